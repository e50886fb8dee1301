"""Auto Scaling groups replace what they lose: in the same zone, and also what somebody else terminated.

moto puts a replacement into any zone of the group, forgets a terminated member at once, counts an instance that still
boots as missing, and replaces what EC2 terminated within that very call. Here a member that goes is `Terminating`
until EC2 has ended it; one that ended without the group is noticed by its health check.
"""

import functools
from typing import Any

from moto.autoscaling.exceptions import AutoscalingClientError
from moto.autoscaling.models import (
    AutoScalingBackend,
    FakeAutoScalingGroup,
    InstanceState,
    TerminateInstanceActivity,
)

from local.aws.clock import Clock
from local.aws.delays import Delays
from local.aws.events.bus import Emit
from local.aws.patches.replacing import replace
from local.aws.serial import Serial

# "Amazon EC2 Auto Scaling periodically checks": the guide gives no figure; a minute is what is seen.
_HEALTH_CHECK_SECONDS = 60.0
_ENDING = frozenset({"shutting-down", "terminated", "stopping", "stopped"})
_COUNTED = frozenset({"InService", "Pending"})


class Groups:
    """What Auto Scaling does with its instances."""

    def __init__(self, *, emit: Emit, delays: Delays, clock: Clock, serial: Serial) -> None:
        self._emit = emit
        self._delays = delays
        self._clock = clock
        self._serial = serial

    def apply(self) -> None:
        def state(member: Any) -> str:
            return _lifecycle_state(member)

        def set_state(member: Any, value: str) -> None:
            member.relight_state = value

        def terminate(backend: Any, instance_id: str, should_decrement: Any) -> Any:
            return self._terminate(backend, instance_id, should_decrement=bool(should_decrement))

        def notice(backend: Any, instance_ids: list[str]) -> None:
            self._notice(backend, instance_ids)

        member_class: Any = InstanceState
        member_class.lifecycle_state = property(state, set_state)
        replace(FakeAutoScalingGroup, "active_instances", _active)
        replace(AutoScalingBackend, "terminate_instance", terminate)
        replace(AutoScalingBackend, "notify_terminate_instances", notice)

    def _terminate(self, backend: Any, instance_id: str, *, should_decrement: bool) -> Any:
        group, member = _member(backend, instance_id)
        if member.lifecycle_state == "Terminating":
            raise AutoscalingClientError("ValidationError", f"Instance {instance_id} is already terminating.")
        if should_decrement:
            if group.desired_capacity - 1 < group.min_size:
                raise AutoscalingClientError(
                    "ValidationError", "Currently, desiredSize equals minSize. Terminating would violate minSize."
                )
            group.desired_capacity -= 1
        activity = TerminateInstanceActivity(member.instance, group.desired_capacity)
        backend.ec2_backend.terminate_instances([instance_id])
        self._tell(group, "Terminate", instance_id)
        self._refill(group, member.availability_zone)
        return activity

    def _notice(self, backend: Any, instance_ids: list[str]) -> None:
        """EC2 ended instances: the group finds out at its next health check."""
        groups = [
            group
            for group in backend.autoscaling_groups.values()
            if any(member.instance.id in instance_ids for member in group.instance_states)
        ]
        for group in groups:
            pause = self._clock.real_seconds(_HEALTH_CHECK_SECONDS)
            self._delays.call_later(pause, functools.partial(self._health_check, group))

    def _health_check(self, group: Any) -> None:
        with self._serial.of("autoscaling"):
            lost = [member for member in group.instance_states if member.instance.state in _ENDING]
            self._refill(group, lost[0].availability_zone if lost else None)

    def _refill(self, group: Any, zone: str | None) -> None:
        """Launch what is missing, in the zone of what was lost, and forget members that have ended."""
        group.instance_states = [member for member in group.instance_states if member.instance.state != "terminated"]
        missing = (group.desired_capacity or 0) - len(group.active_instances())
        if missing <= 0:
            return
        before = {member.instance.id for member in group.instance_states}
        with _in_zone(group, zone):
            group.replace_autoscaling_group_instances(missing, group.get_propagated_tags())
        for member in group.instance_states:
            if member.instance.id not in before:
                self._tell(group, "Launch", member.instance.id)

    def _tell(self, group: Any, kind: str, instance_id: str) -> None:
        self._emit(
            source="aws.autoscaling",
            detail_type=f"EC2 Instance {kind} Successful",
            detail={"AutoScalingGroupName": group.name, "EC2InstanceId": instance_id, "StatusCode": "InProgress"},
            resources=[group.arn],
        )


class _in_zone:  # noqa: N801 - used as a statement
    """For the time of a launch the group has only this zone, and its subnets there come first."""

    def __init__(self, group: Any, zone: str | None) -> None:
        self._group = group
        self._zone = zone
        self._kept = (group.availability_zones, group.vpc_zone_identifier)

    def __enter__(self) -> None:
        if self._zone is None or self._zone not in self._group.availability_zones:
            return
        self._group.availability_zones = [self._zone]
        if self._group.vpc_zone_identifier:
            subnets = self._group.vpc_zone_identifier.split(",")
            here = [subnet for subnet in subnets if self._zone_of(subnet) == self._zone]
            self._group.vpc_zone_identifier = ",".join(here or subnets)

    def _zone_of(self, subnet: str) -> str:
        backend = self._group.autoscaling_backend.ec2_backend
        return str(backend.get_subnet(subnet.strip()).availability_zone)

    def __exit__(self, *_: object) -> None:
        self._group.availability_zones, self._group.vpc_zone_identifier = self._kept


def _lifecycle_state(member: Any) -> str:
    stored = str(getattr(member, "relight_state", "InService"))
    if member.instance.state in _ENDING:
        return "Terminating"
    return "Pending" if stored == "InService" and member.instance.state == "pending" else stored


def _active(group: Any) -> list[Any]:
    return [member for member in group.instance_states if member.lifecycle_state in _COUNTED]


def _member(backend: Any, instance_id: str) -> tuple[Any, Any]:
    for group in backend.autoscaling_groups.values():
        for member in group.instance_states:
            if member.instance.id == instance_id:
                return group, member
    raise AutoscalingClientError(
        "ValidationError", f"Instance Id not found - No managed instance found for instance ID {instance_id}"
    )
