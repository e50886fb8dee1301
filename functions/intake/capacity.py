"""EC2 about reserved capacity that ends: Capacity Blocks, by reservation or by instance.

Shapes from the EC2 user guide, "Monitor Capacity Blocks using EventBridge". Its revisions disagree about the name of
the first: "Capacity Block Reservation Expiration Warning" or "Capacity Block Expiration Warning"; both are read.
"""

from pydantic import Field

from functions.intake.notice import AwsEvent, Instance, Notice, Reservation
from policies.contract.base import Model
from policies.contract.times import Moment, format_time
from policies.contract.vocabulary import Kind, Persistence, Severity, Source


# {"id": "12345678-1234-1234-1234-111122223333", "detail-type": "Capacity Block Reservation Expiration Warning",
#  "source": "aws.ec2", "time": "2024-05-01T10:20:00Z",
#  "resources": ["arn:aws:ec2:us-east-2:111122223333:capacity-reservation/cr-02168da1478b509e0"],
#  "detail": {"capacity-reservation-id": "cr-02168da1478b509e0", "end-date": "2024-05-01T11:00:00Z"}}
class _Expiration(Model):
    reservation_id: str = Field(alias="capacity-reservation-id", pattern=r"^cr-[0-9a-f]+$")
    ends: Moment = Field(alias="end-date")


def expiration(event: AwsEvent) -> tuple[Notice, ...]:
    """Comes 40 minutes before the end; EC2 begins to terminate at 30 minutes: ten remain to save and stop."""
    detail = _Expiration.model_validate(event.detail)
    return (
        Notice(
            key=event.id,
            subject=Reservation(detail.reservation_id),
            kind=Kind.CAPACITY_EXPIRING,
            severity=Severity.ERROR,
            source=Source.EC2,
            observed_at=event.time,
            persistence=Persistence.PERMANENT,
            attributes={"reservation": detail.reservation_id, "ends_at": format_time(detail.ends)},
            message=f"capacity reservation {detail.reservation_id} ends at {detail.ends:%H:%M:%S} UTC",
        ),
    )


# {"id": "12345678-1234-1234-1234-111122223333", "source": "aws.ec2", "time": "2024-05-01T10:28:00Z",
#  "detail-type": "EC2 Capacity Reservation Instance Interruption Warning",
#  "resources": ["arn:aws:ec2:us-east-2:111122223333:instance/i-0b662ef9931388ba0"],
#  "detail": {"instance-id": "i-0b662ef9931388ba0", "instance-action": "terminate",
#             "instance-termination-time": "2024-05-01T10:30:00Z", "availability-zone-id": "use2-az1",
#             "instance-lifecycle": "capacity-block"}}
class _Interruption(Model):
    instance_id: str = Field(alias="instance-id", pattern=r"^i-[0-9a-f]{8,17}$")
    action: str = Field(alias="instance-action")
    ends: Moment = Field(alias="instance-termination-time")


def interruption(event: AwsEvent) -> tuple[Notice, ...]:
    """The same for one instance, with minutes left."""
    detail = _Interruption.model_validate(event.detail)
    return (
        Notice(
            key=event.id,
            subject=Instance(detail.instance_id),
            kind=Kind.CAPACITY_EXPIRING,
            severity=Severity.CRITICAL,
            source=Source.EC2,
            observed_at=event.time,
            persistence=Persistence.PERMANENT,
            attributes={"action": detail.action, "ends_at": format_time(detail.ends)},
            message=f"EC2 will {detail.action} {detail.instance_id} at {detail.ends:%H:%M:%S} UTC with its reservation",
        ),
    )
