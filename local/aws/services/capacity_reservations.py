"""Capacity reservations and Capacity Blocks, as a test sets them: moto has none, and no instance that runs in one.

Free slots are what is left of a reservation's slots after its instances that EC2 has not ended.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.ec2.models.instances import Instance
from moto.ec2.responses import EC2Response
from moto.ec2.utils import filter_dict_attribute_mapping

from local.aws import backends
from local.aws.errors import UnsupportedError

_ENDED = frozenset({"terminated", "stopped"})
_TYPE = "p5.48xlarge"


def apply() -> None:
    """Let EC2 answer DescribeCapacityReservations, and find and tell instances by the reservation they run in."""
    instance_class: Any = Instance
    instance_class.capacity_reservation_id = None
    filter_dict_attribute_mapping["capacity-reservation-id"] = "capacity_reservation_id"
    EC2Response.describe_capacity_reservations = _describe  # type: ignore[attr-defined]  # moto has none to replace


def set_all(reservations: Sequence[Mapping[str, Any]], *, region: str) -> None:
    """Have these and no others: ``id``, ``slots``; where wanted ``cluster``, ``state``, ``ends_at``, ``instances``.

    ``type`` is the instance type, that of the fleet's nodes without it.
    """
    backend: Any = ec2_backends[backends.ACCOUNT][region]
    backend.relight_reservations = [dict(each) for each in reservations]
    for each in reservations:
        for instance_id in each.get("instances", ()):
            backend.get_instance(instance_id).capacity_reservation_id = each["id"]


def _describe(self: Any) -> ActionResult:
    wanted = {each["Name"]: each["Values"] for each in self._get_param("Filters", [])}
    if set(wanted) - {"state"}:
        raise UnsupportedError(f"DescribeCapacityReservations is filtered by state only, not by {', '.join(wanted)}")
    known = [_described(self.ec2_backend, each) for each in getattr(self.ec2_backend, "relight_reservations", [])]
    shown = [each for each in known if each["State"] in wanted.get("state", [each["State"]])]
    return ActionResult({"CapacityReservations": shown})


def _described(backend: Any, reservation: Mapping[str, Any]) -> dict[str, Any]:
    inside = [
        each
        for each in backend.all_instances()
        if each.capacity_reservation_id == reservation["id"] and each.state not in _ENDED
    ]
    described = {
        "CapacityReservationId": reservation["id"],
        "State": reservation.get("state", "active"),
        "InstanceType": reservation.get("type", _TYPE),
        "TotalInstanceCount": reservation["slots"],
        "AvailableInstanceCount": max(0, reservation["slots"] - len(inside)),
        "Tags": [{"Key": "relight:cluster", "Value": reservation["cluster"]}] if reservation.get("cluster") else [],
        "EndDateType": "limited" if reservation.get("ends_at") else "unlimited",
    }
    ends = {"EndDate": datetime.fromisoformat(reservation["ends_at"])} if reservation.get("ends_at") else {}
    return described | ends
