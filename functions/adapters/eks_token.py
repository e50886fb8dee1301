"""A bearer token for an EKS cluster: a presigned GetCallerIdentity, good for a minute.

Form: aws-iam-authenticator, pkg/token; `aws eks get-token`. It must not keep tokens: one is made each invocation.
"""

import base64
from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling

if TYPE_CHECKING:
    from types_boto3_sts import STSClient

_CLUSTER_HEADER = "x-k8s-aws-id"
_PREFIX = "k8s-aws-v1."
_LIFE_SECONDS = 60


def eks_token(sts: "STSClient", eks_cluster: str) -> str:
    """Return the token for *eks_cluster* under the function's own role. No call goes out: it is only signed."""

    def name_cluster(request: Any, **_: object) -> None:  # noqa: ANN401 - botocore's AWSRequest has no types
        request.headers[_CLUSTER_HEADER] = eks_cluster

    event = "before-sign.sts.GetCallerIdentity"
    sts.meta.events.register(event, name_cluster)
    try:
        with calling(f"signing a token for EKS cluster {eks_cluster}"):
            url = sts.generate_presigned_url("get_caller_identity", ExpiresIn=_LIFE_SECONDS, HttpMethod="GET")
    finally:
        sts.meta.events.unregister(event, name_cluster)
    return _PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
