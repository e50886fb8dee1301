"""How a function gets into an EKS cluster: token, endpoint, authority."""

import base64
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.stub import Stubber

from functions.adapters.eks_clusters import EksClusters
from functions.adapters.eks_token import eks_token
from functions.ports.kubernetes import Pod
from functions.settings import ClusterSettings
from local.kubernetes.access import Rule
from local.kubernetes.cluster import KubernetesCluster
from local.kubernetes.resources import NODES
from policies.contract.errors import DependencyError, SettingsError

CLUSTER = ClusterSettings(name="train", orchestrator="eks", eks_cluster="train-eks")
RULES = (Rule(("",), ("nodes",), ("get", "list")),)


class AlwaysOn:
    def is_powered(self, node: str) -> bool:
        return bool(node)

    def exists(self, provider_id: str) -> bool:
        return bool(provider_id)


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")


def address_in(token: str) -> dict[str, list[str]]:
    text = token.removeprefix("k8s-aws-v1.")
    return parse_qs(urlsplit(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()).query)


def test_a_token_presigns_get_caller_identity_for_this_cluster_and_a_minute() -> None:
    token = eks_token(boto3.client("sts", region_name="us-east-1"), "train-eks")
    query = address_in(token)
    assert token.startswith("k8s-aws-v1.")
    assert not token.endswith("=")
    assert (query["Action"], query["X-Amz-Expires"]) == (["GetCallerIdentity"], ["60"])
    assert query["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]


def test_tokens_of_two_clusters_differ() -> None:
    sts = boto3.client("sts", region_name="us-east-1")
    signatures = {tuple(address_in(eks_token(sts, name))["X-Amz-Signature"]) for name in ("a", "b")}
    assert len(signatures) == 2


def clusters(endpoint: str, answers: int = 1) -> Iterator[EksClusters]:
    eks = boto3.client("eks", region_name="us-east-1")
    told: dict[str, Any] = {"cluster": {"endpoint": endpoint, "certificateAuthority": {"data": "bm9uZQ=="}}}
    with Stubber(eks) as stubber:
        for _ in range(answers):
            stubber.add_response("describe_cluster", told, {"name": "train-eks"})
        yield EksClusters(eks, boto3.client("sts", region_name="us-east-1"))
        stubber.assert_no_pending_responses()


def test_a_cluster_on_loopback_takes_the_token_and_grants_what_its_rules_say() -> None:
    with KubernetesCluster(AlwaysOn(), rules=RULES) as local:
        node = {"metadata": {"name": "n0"}, "spec": {"providerID": "aws:///us-east-1a/i-n0"}}
        local.store.create(NODES, "", node)
        for connect in clusters(local.url):
            for name in ("", "n0"):  # EKS is asked once
                with connect(CLUSTER) as cluster:
                    found = cluster.node_of("i-n0", name)
                assert found is not None
                assert found.name == "n0"
            with connect(CLUSTER) as cluster, pytest.raises(DependencyError, match="access entry"):
                cluster.delete_pod(Pod("ml", "run-worker-0", "uid"))


@pytest.mark.parametrize("endpoint", ["http://10.0.0.1", "http://example.com", "", "ftp://127.0.0.1"])
def test_plain_http_is_spoken_with_loopback_only(endpoint: str) -> None:
    for connect in clusters(endpoint):
        with pytest.raises(DependencyError, match="Only https"), connect(CLUSTER):
            pass


def test_a_cluster_without_an_eks_name_is_a_matter_of_settings() -> None:
    for connect in clusters("https://unused", answers=0):
        nameless = CLUSTER.model_copy(update={"eks_cluster": None})
        with pytest.raises(SettingsError, match="eks_cluster"), connect(nameless):
            pass
