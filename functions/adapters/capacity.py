"""What a cluster could still get, asked of EC2 and Auto Scaling.

It must not decide what counts as a spare or a free slot of a cluster; it only reads AWS's words.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from functions.adapters.aws import calling
from functions.ports.capacity import Refusal, Reservation, Room
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from types_boto3_autoscaling import AutoScalingClient
    from types_boto3_autoscaling.type_defs import ActivityTypeDef, AutoScalingGroupTypeDef
    from types_boto3_ec2 import EC2Client
    from types_boto3_ec2.type_defs import CapacityReservationTypeDef

CLUSTER_TAG = "relight:cluster"
GROUP_TAG = "aws:autoscaling:groupName"
# States of a warm pool's instance that has been prepared (Auto Scaling user guide, "Lifecycle state transitions for
# instances in a warm pool"); in Warmed:Pending it is still being made.
_READY = frozenset({"Warmed:Running", "Warmed:Stopped", "Warmed:Hibernated"})
_RECENT = 10  # activities looked at; they come newest first
_MOST_PAGES = 20
_MOST_RESERVATIONS = 100  # of the 200 values that filters of a request may have (EC2 API reference, DescribeInstances)
_MOST_WHY = 200
# What Auto Scaling says when EC2 has none: "We currently do not have sufficient p5.48xlarge capacity in the
# Availability Zone you requested", "There is no Spot capacity available …" (Auto Scaling user guide, "Troubleshoot:
# Instance launch failure"). A used-up quota says "vCPU capacity": nothing comes then, either.
_LACKS = "capacity"
_NAMED = re.compile(r"sufficient ([a-z0-9][a-z0-9-]*\.[a-z0-9-]+) capacity")


class Ec2Capacity:
    """See the port `CapacityView`."""

    def __init__(self, ec2: "EC2Client", autoscaling: "AutoScalingClient") -> None:
        """Keep the clients."""
        self._ec2 = ec2
        self._autoscaling = autoscaling

    def rooms(self, cluster: str, groups: Collection[str]) -> Sequence[Room]:
        """See the port."""
        pages = self._autoscaling.get_paginator("describe_auto_scaling_groups")
        with calling(f"reading the groups of {cluster}"):
            if groups:
                answers = list(pages.paginate(AutoScalingGroupNames=list(groups)))
            else:
                answers = list(pages.paginate(Filters=[{"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]}]))
        return [_room(each) for answer in answers for each in answer["AutoScalingGroups"]]

    def warm(self, group: str) -> Mapping[str, int]:
        """See the port."""
        with calling(f"reading the warm pool of {group}"):
            pages = self._autoscaling.get_paginator("describe_warm_pool").paginate(AutoScalingGroupName=group)
            inside = [each for page in pages for each in page["Instances"]]
        return Counter(each.get("InstanceType", "") for each in inside if each["LifecycleState"] in _READY)

    def refusal(self, group: str) -> Refusal | None:
        """See the port."""
        with calling(f"reading the activities of {group}"):
            answer = self._autoscaling.describe_scaling_activities(AutoScalingGroupName=group, MaxRecords=_RECENT)
        launches = (each for each in answer["Activities"] if each["Description"].startswith("Launching"))
        ended = next((each for each in launches if each["StatusCode"] in {"Successful", "Failed"}), None)
        return _refusal(ended) if ended else None

    def reservations(self) -> Sequence[Reservation]:
        """See the port."""
        with calling("reading capacity reservations"):
            pages = self._ec2.get_paginator("describe_capacity_reservations").paginate(
                Filters=[{"Name": "state", "Values": ["active"]}]
            )
            found = [each for page in pages for each in page["CapacityReservations"]]
        return [_reservation(each) for each in found]

    def lived_in(self, reservations: Collection[str], groups: Collection[str]) -> Collection[str]:
        """See the port."""
        asked, found = sorted(reservations), set[str]()
        for start in range(0, len(asked), _MOST_RESERVATIONS):
            found |= self._lived_in(asked[start : start + _MOST_RESERVATIONS], groups)
        return found

    def _lived_in(self, asked: Sequence[str], groups: Collection[str]) -> set[str]:
        """A page may be empty, and be followed by one that is not."""
        wanted = {"capacity-reservation-id": list(asked), f"tag:{GROUP_TAG}": sorted(groups)}
        pages = self._ec2.get_paginator("describe_instances").paginate(
            Filters=[{"Name": name, "Values": values} for name, values in wanted.items()]
        )
        found: set[str] = set()
        with calling(f"looking who runs in {len(asked)} capacity reservations"):
            for number, page in enumerate(pages, start=1):
                inside = [each for one in page["Reservations"] for each in one["Instances"]]
                found |= {each["CapacityReservationId"] for each in inside if "CapacityReservationId" in each}
                if len(found) == len(asked):
                    break
                if number == _MOST_PAGES:
                    raise DependencyError(
                        f"{len(asked)} reservations have more than {number} pages of instances of {groups}."
                    )
        return found


def _room(described: "AutoScalingGroupTypeDef") -> Room:
    target = described.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    types, others = _types(described)
    return Room(
        name=described["AutoScalingGroupName"],
        wanted=described["DesiredCapacity"],
        most=described["MaxSize"],
        has_warm_pool=bool(described.get("WarmPoolConfiguration")),
        reservations=tuple(target.get("CapacityReservationIds", ())),
        types=types,
        others=others,
    )


def _types(described: "AutoScalingGroupTypeDef") -> tuple[dict[str, int], bool]:
    """Return the instance types that a group's description tells, and whether it may launch others.

    The type of a group without a policy of mixed instances stands in its template, which is not asked for: it is that
    of its instances. An override without a type leaves it to the template, or names only what an instance must have;
    so may the template of a policy without overrides (Auto Scaling API reference, LaunchTemplateOverrides).
    """
    policy = described.get("MixedInstancesPolicy")
    overrides = policy.get("LaunchTemplate", {}).get("Overrides", []) if policy else []
    named = [each.get("InstanceType", "") for each in overrides]
    inside = Counter(each.get("InstanceType", "") for each in described.get("Instances", ()))
    types = {**dict.fromkeys(named, 0), **inside}
    types.pop("", None)
    return types, bool(policy) and (not named or "" in named)


def _refusal(activity: "ActivityTypeDef") -> Refusal | None:
    why = activity.get("StatusMessage", "")
    if activity["StatusCode"] != "Failed" or _LACKS not in why.lower():
        return None
    named = _NAMED.search(why)
    return Refusal(activity["StartTime"].astimezone(UTC), why[:_MOST_WHY], named[1] if named else "")


def _reservation(described: "CapacityReservationTypeDef") -> Reservation:
    tags = {each["Key"]: each["Value"] for each in described.get("Tags", ())}
    ends = described.get("EndDate")
    return Reservation(
        id=described["CapacityReservationId"],
        slots=described["TotalInstanceCount"],
        free=described["AvailableInstanceCount"],
        cluster=tags.get(CLUSTER_TAG, ""),
        ends_at=ends.astimezone(UTC) if ends else None,
        instance_type=described.get("InstanceType", ""),
    )
