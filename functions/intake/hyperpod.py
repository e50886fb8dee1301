"""HyperPod about its nodes: health changes, in both directions. The fault's type stands only in the free text.

Where its NodeRecovery is Automatic it repairs by itself: that is for policies and coordinate to respect.
"""

import re
from typing import Literal

from pydantic import Field

from functions.intake.notice import AwsEvent, Instance, Notice
from policies.contract.base import Model
from policies.contract.events import cut_message
from policies.contract.vocabulary import Kind, Severity, Source


# {"id": "0bd4a141-0a02-9d8a-f977-3924c3fb259c", "detail-type": "SageMaker HyperPod Cluster Node Health Event",
#  "source": "aws.sagemaker", "time": "2021-10-25T01:52:12Z",
#  "resources": ["arn:aws:sagemaker:…:cluster/sample-cluster"],
#  "detail": {"ClusterName": "sample-cluster", "ClusterArn": "arn:aws:sagemaker:…", "InstanceId": "i-12345678abcdefghi",
#             "Tags": {}, "HealthSummary": {"HealthStatus": "Unhealthy", "HealthStatusReason": "HyperPod Health
#             Monitoring Agent (HMA) has detected fault type NvidiaErrorTerminate on this node and is unhealthy.",
#             "RepairAction": "None", "Recommendation": "Please Replace the Faulty Node."}}}
class _Summary(Model):
    status: Literal["Healthy", "Unhealthy"] = Field(alias="HealthStatus")
    reason: str = Field(default="", alias="HealthStatusReason")
    repair: str = Field(default="", alias="RepairAction")
    recommendation: str = Field(default="", alias="Recommendation")


class _Health(Model):
    cluster: str = Field(alias="ClusterName")
    instance_id: str = Field(alias="InstanceId")  # the guide's own example is no valid id: taken as it is
    summary: _Summary = Field(alias="HealthSummary")


_FAULT = re.compile(r"fault type (\w+)")


def node_health(event: AwsEvent) -> tuple[Notice, ...]:
    """An unhealthy node is impaired, a healthy one has recovered."""
    health = _Health.model_validate(event.detail)
    ill = health.summary.status == "Unhealthy"
    fault = _FAULT.search(health.summary.reason)
    message, _ = cut_message(f"{health.summary.reason} {health.summary.recommendation}".strip())
    return (
        Notice(
            key=event.id,
            subject=Instance(health.instance_id),
            kind=Kind.INSTANCE_STATUS_IMPAIRED if ill else Kind.NODE_RECOVERED,
            severity=Severity.CRITICAL if ill else Severity.INFO,
            source=Source.HYPERPOD,
            observed_at=event.time,
            attributes={
                "hyperpod_cluster": health.cluster,
                "fault": fault[1] if fault else "",
                "repair_action": health.summary.repair,
            },
            message=message,
        ),
    )
