import base64

import pytest

from local.aws.principals import access_key
from local.kubernetes.access import Access, Rule
from local.kubernetes.errors import StatusError
from local.kubernetes.routes import target_of

ACCESS = Access({"secret": "admin"}, (Rule(("",), ("nodes", "pods/eviction"), ("get", "create")),))


def token(query: str) -> str:
    address = f"https://sts.us-east-1.amazonaws.com/?{query}"
    return "Bearer k8s-aws-v1." + base64.urlsafe_b64encode(address.encode()).decode().rstrip("=")


def good_query(expires: int = 60, headers: str = "host%3Bx-k8s-aws-id") -> str:
    credential = f"{access_key('KubernetesRole')}%2F20260131%2Fus-east-1%2Fsts%2Faws4_request"
    return (
        f"Action=GetCallerIdentity&X-Amz-Expires={expires}&X-Amz-SignedHeaders={headers}&X-Amz-Credential={credential}"
    )


def test_an_eks_token_names_its_role() -> None:
    assert ACCESS.identify(token(good_query())) == "aws:KubernetesRole"
    assert ACCESS.identify("Bearer secret") == "admin"


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("", "no bearer token"),
        ("Basic secret", "no bearer token"),
        ("Bearer other", "neither known"),
        (token("Action=AssumeRole"), "does not presign GetCallerIdentity"),
        (token(good_query(headers="host")), "does not sign x-k8s-aws-id"),
        (token(good_query(expires=3600)), "lives too long"),
        (token(good_query().replace("sts%2F", "ec2%2F")), "not signed for sts"),
    ],
)
def test_a_token_of_the_wrong_shape_is_unauthorized(header: str, why: str) -> None:
    with pytest.raises(StatusError, match=why) as caught:
        ACCESS.identify(header)
    assert caught.value.code == 401


def test_an_identity_of_aws_may_do_what_the_rules_say() -> None:
    ACCESS.check("aws:KubernetesRole", "get", target_of("/api/v1/nodes/n"))
    ACCESS.check("aws:KubernetesRole", "create", target_of("/api/v1/namespaces/ml/pods/p/eviction"))
    ACCESS.check("admin", "delete", target_of("/api/v1/nodes/n"))
    with pytest.raises(StatusError, match='User "aws:KubernetesRole" cannot delete resource "nodes"') as caught:
        ACCESS.check("aws:KubernetesRole", "delete", target_of("/api/v1/nodes/n"))
    assert caught.value.code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/secrets",
        "/api/v1/nodes/n/eviction",
        "/api/v1/pods/p",
        "/apis/kubeflow.org/v1",
        "/x",
        "/api/v1/nodes/a/status/b",
    ],
)
def test_a_path_the_server_does_not_have_is_not_found(path: str) -> None:
    with pytest.raises(StatusError, match="could not find the requested resource"):
        target_of(path)
