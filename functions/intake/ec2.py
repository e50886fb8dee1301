"""EC2 about instances: state changes, spot interruptions, rebalance recommendations.

The id comes from the detail, never from the resource's ARN: that one may carry an availability zone instead of a region
and no account (spot interruption below). Ids of eight digits are legal.
"""

from typing import Literal

from pydantic import Field

from functions.intake.notice import AwsEvent, Instance, Notice
from policies.contract.base import Model
from policies.contract.vocabulary import Kind, Persistence, Severity, Source


class _Subject(Model):
    instance_id: str = Field(alias="instance-id", pattern=r"^i-[0-9a-f]{8,17}$")


# {"id": "7bf73129-1428-4cd3-a780-95db273d1602", "detail-type": "EC2 Instance State-change Notification",
#  "source": "aws.ec2", "account": "111122223333", "time": "2015-11-11T21:29:54Z", "region": "us-east-1",
#  "resources": ["arn:aws:ec2:us-east-1:111122223333:instance/i-abcd1111"],
#  "detail": {"instance-id": "i-abcd1111", "state": "pending"}}
class _StateChange(_Subject):
    state: Literal["pending", "running", "stopping", "stopped", "shutting-down", "terminated"]


_COMING = {"pending", "running"}


def state_change(event: AwsEvent) -> tuple[Notice, ...]:
    """An instance that leaves is critical whoever made it leave: what runs on it ends."""
    detail = _StateChange.model_validate(event.detail)
    coming = detail.state in _COMING
    return (
        Notice(
            key=event.id,
            subject=Instance(detail.instance_id),
            kind=Kind.INSTANCE_STATE_CHANGED,
            severity=Severity.INFO if coming else Severity.CRITICAL,
            source=Source.EC2,
            observed_at=event.time,
            persistence=Persistence.PERMANENT if detail.state == "terminated" else Persistence.UNKNOWN,
            attributes={"state": detail.state},
            message=f"EC2: {detail.instance_id} is {detail.state}",
        ),
    )


# {"id": "1e5527d7-bb36-4607-3370-4164db56a40e", "detail-type": "EC2 Spot Instance Interruption Warning",
#  "source": "aws.ec2", "time": "…", "resources": ["arn:aws:ec2:us-east-1b:instance/i-0b662ef9931388ba0"],
#  "detail": {"instance-id": "i-0b662ef9931388ba0", "instance-action": "terminate"}}
class _Interruption(_Subject):
    action: Literal["terminate", "stop", "hibernate"] = Field(alias="instance-action")


def spot_interruption(event: AwsEvent) -> tuple[Notice, ...]:
    """Two minutes remain (EC2 user guide, "Spot Instance interruption notices")."""
    detail = _Interruption.model_validate(event.detail)
    return (
        Notice(
            key=event.id,
            subject=Instance(detail.instance_id),
            kind=Kind.INSTANCE_SPOT_INTERRUPTION,
            severity=Severity.CRITICAL,
            source=Source.EC2,
            observed_at=event.time,
            persistence=Persistence.PERMANENT,
            attributes={"action": detail.action},
            message=f"EC2 will {detail.action} spot instance {detail.instance_id} in two minutes",
        ),
    )


# {"id": "5d5555d5-dd55-5555-5555-5555dd55d55d", "detail-type": "EC2 Instance Rebalance Recommendation",
#  "source": "aws.ec2", "time": "2020-10-26T14:14:14Z",
#  "resources": ["arn:aws:ec2:us-east-1b:instance/i-0b662ef9931388ba0"],
#  "detail": {"instance-id": "i-0b662ef9931388ba0"}}
def rebalance(event: AwsEvent) -> tuple[Notice, ...]:
    """An elevated risk of interruption, no certainty."""
    detail = _Subject.model_validate(event.detail)
    return (
        Notice(
            key=event.id,
            subject=Instance(detail.instance_id),
            kind=Kind.INSTANCE_REBALANCE_RECOMMENDED,
            severity=Severity.WARNING,
            source=Source.EC2,
            observed_at=event.time,
            persistence=Persistence.TRANSIENT,
            message=f"EC2 expects to interrupt spot instance {detail.instance_id}",
        ),
    )
