"""What a deployment may be told, and what it says when it is told nonsense."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.settings import read_clusters
from infra.catalog import networks, render, routes
from infra.settings import DEFAULT, Cluster, Deployment, DeploymentError, Network, read

EKS = {"name": "a", "orchestrator": "eks", "eks_cluster": "a"}
JOBS = {"name": "j", "orchestrator": "sagemaker", "sagemaker_role_arn": "arn:aws:iam::123456789012:role/r"}
NETWORK = {"subnets": ["subnet-1"], "security_groups": ["sg-1"]}


def written(tmp_path: Path, data: dict[str, Any]) -> Path:
    path = tmp_path / "deployment.json"
    path.write_text(json.dumps(data))
    return path


def test_the_default_deployment_is_valid() -> None:
    deployment = read(DEFAULT)
    assert deployment.name == "Relight"
    assert deployment.clusters[0].gpus_per_node == 8


def test_a_wrong_word_in_the_only_cluster_is_not_told_as_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(DeploymentError, match=r"clusters\.0\.gpu_per_node: ") as refused:
        read(written(tmp_path, {"clusters": [{**EKS, "gpu_per_node": 8}]}))
    assert "at least 1 item" not in str(refused.value)
    with pytest.raises(DeploymentError, match="at least 1 item"):
        read(written(tmp_path, {"clusters": []}))


@pytest.mark.parametrize("schedule", ["", "rate(7 days)", "cron(0 7 ? * MON *)"])
def test_the_report_has_a_schedule_or_none(schedule: str, tmp_path: Path) -> None:
    told = {"clusters": [EKS], "report_schedule": schedule}
    assert read(written(tmp_path, told)).report_schedule == schedule


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, "clusters"),
        ({"clusters": []}, "clusters"),
        ({"clusters": [EKS, EKS]}, "same name"),
        ({"clusters": [EKS], "report_schedule": "weekly"}, "report_schedule"),
        ({"clusters": [{"name": "a", "orchestrator": "eks"}]}, "needs eks_cluster"),
        ({"clusters": [{"name": "a", "orchestrator": "sagemaker"}]}, "needs sagemaker_role_arn"),
        ({"clusters": [{**EKS, "endpoint_access": "private"}]}, "needs network"),
        ({"clusters": [{**EKS, "network": NETWORK}]}, "a public one has none"),
        ({"clusters": [{**JOBS, "access_entry": True}]}, "access_entry needs eks_cluster"),
        ({"clusters": [{**EKS, "gpu_per_node": 8}]}, "gpu_per_node"),
        ({"clusters": [EKS], "log_retention_days": 91}, "log_retention_days"),
        ({"clusters": [EKS], "policy_trail": "mine"}, "policy_trail"),
        ({"clusters": [EKS], "name": "no spaces"}, "name"),
    ],
)
def test_a_wrong_deployment_is_refused_by_the_name_of_what_is_wrong(
    tmp_path: Path, data: dict[str, Any], told: str
) -> None:
    with pytest.raises(DeploymentError, match=told):
        read(written(tmp_path, data))


def test_a_missing_file_says_how_to_name_another(tmp_path: Path) -> None:
    with pytest.raises(DeploymentError, match="-c settings="):
        read(tmp_path / "none.toml")


def test_a_broken_file_says_what_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("name = ")
    with pytest.raises(DeploymentError, match="is not TOML"):
        read(path)


def test_functions_read_the_clusters_that_infra_writes() -> None:
    network = Network(subnets=("subnet-1",), security_groups=("sg-1",))
    cluster = Cluster(
        name="a",
        orchestrator="eks",
        eks_cluster="one",
        auto_scaling_groups=("g",),
        gpus_per_node=4,
        checkpoint_buckets=("b",),
        endpoint_access="private",
        network=network,
    )
    told = read_clusters({"CLUSTERS": render([cluster])})["a"]
    assert told.model_dump() == {**cluster.model_dump(exclude={"network", "checkpoint_key_arns", "access_entry"})}


def test_each_private_network_gets_a_kubernetes_function_and_its_clusters() -> None:
    def private(name: str, subnet: str) -> Cluster:
        network = Network(subnets=(subnet,), security_groups=("sg-1",))
        return Cluster(name=name, orchestrator="eks", eks_cluster=name, endpoint_access="private", network=network)

    clusters = (Cluster(name="p", orchestrator="eks", eks_cluster="p"), private("a", "s1"), private("b", "s2"))
    deployment = Deployment(clusters=(*clusters, private("c", "s1")))
    assert {gap: [it.name for it in reached] for gap, (_, reached) in networks(deployment).items()} == {
        "KubernetesFunctionArn": ["p"],
        "KubernetesVpc1FunctionArn": ["a", "c"],
        "KubernetesVpc2FunctionArn": ["b"],
    }
    assert routes(deployment) == {"KubernetesVpc1FunctionArn": ["a", "c"], "KubernetesVpc2FunctionArn": ["b"]}
