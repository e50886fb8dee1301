"""What a cluster could still get: the twin, and EC2 with Auto Scaling (on moto, with what the embedded AWS adds)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from functions.adapters.capacity import Ec2Capacity
from functions.ports.capacity import CapacityView, Refusal, Reservation, Room
from functions.twins.capacity import MemoryCapacityView
from local.aws.services import capacity_reservations
from policies.contract.errors import DependencyError

REGION = "us-east-1"
ENDS = datetime(2026, 3, 9, 11, 30, tzinfo=UTC)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

GPUS = Room("gpus", 2, 4, has_warm_pool=True, types={"p5.48xlarge": 2})
OTHERS = Room("others", 1, 1, types={"p5.48xlarge": 1})
MIXED = Room("mixed", 1, 8, types={"p5.48xlarge": 1, "p5e.48xlarge": 0, "p5en.48xlarge": 0})
EMPTY = Room("empty", 0, 9)
RESERVED = (
    Reservation("cr-1", 4, 2, cluster="a", instance_type="p5.48xlarge"),
    Reservation("cr-2", 8, 8, ends_at=ENDS, instance_type="p4d.24xlarge"),
)


@dataclass
class Site:
    """Groups ``gpus`` (2 of at most 4, with a warm pool, tagged), ``others`` and ``mixed``; ``gpus`` runs in cr-1."""

    view: CapacityView


@pytest.fixture(params=["twin", "aws"])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    if request.param == "twin":
        yield Site(
            MemoryCapacityView(
                [GPUS, OTHERS, MIXED, EMPTY], of={"a": ["gpus"]}, reserved=[*RESERVED], inside={"cr-1": ["gpus"]}
            )
        )
        return
    with mock_aws():
        yield Site(_on_moto())


def _on_moto() -> CapacityView:
    ec2 = boto3.client("ec2", region_name=REGION)
    autoscaling = boto3.client("autoscaling", region_name=REGION)
    image = ec2.describe_images()["Images"][0]["ImageId"]
    autoscaling.create_launch_configuration(LaunchConfigurationName="lc", ImageId=image, InstanceType="p5.48xlarge")
    for name, wanted, most in (("gpus", 2, 4), ("others", 1, 1), ("empty", 0, 9)):
        autoscaling.create_auto_scaling_group(
            AutoScalingGroupName=name,
            LaunchConfigurationName="lc",
            MinSize=0,
            MaxSize=most,
            DesiredCapacity=wanted,
            AvailabilityZones=[f"{REGION}a"],
            Tags=[{"Key": "relight:cluster", "Value": "a" if name == "gpus" else "b", "PropagateAtLaunch": False}],
        )
    _make_mixed(ec2, autoscaling, image)
    autoscaling.put_warm_pool(AutoScalingGroupName="gpus")
    capacity_reservations.apply()
    members = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=["gpus"])["AutoScalingGroups"][0]
    inside = [each["InstanceId"] for each in members["Instances"]]
    capacity_reservations.set_all(
        [
            {"id": "cr-1", "slots": 4, "cluster": "a", "instances": inside},
            {"id": "cr-2", "slots": 8, "ends_at": ENDS.isoformat(), "type": "p4d.24xlarge"},
            {"id": "cr-3", "slots": 8, "state": "scheduled"},
        ],
        region=REGION,
    )
    return Ec2Capacity(ec2, autoscaling)


def _make_mixed(ec2: Any, autoscaling: Any, image: str) -> None:  # noqa: ANN401 - clients of boto3
    ec2.create_launch_template(
        LaunchTemplateName="mixed", LaunchTemplateData={"ImageId": image, "InstanceType": "p5.48xlarge"}
    )  # moto launches the template's type, whatever overrides it
    overrides = [{"InstanceType": kind} for kind in ("p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge")]
    autoscaling.create_auto_scaling_group(
        AutoScalingGroupName="mixed",
        MixedInstancesPolicy={
            "LaunchTemplate": {
                "LaunchTemplateSpecification": {"LaunchTemplateName": "mixed", "Version": "$Latest"},
                "Overrides": overrides,
            }
        },
        MinSize=0,
        MaxSize=8,
        DesiredCapacity=1,
        AvailabilityZones=[f"{REGION}a"],
    )


def test_groups_are_found_by_name_or_by_the_clusters_tag(site: Site) -> None:
    assert sorted(site.view.rooms("a", ["gpus", "others", "gone"]), key=lambda one: one.name) == [GPUS, OTHERS]
    assert list(site.view.rooms("a", [])) == [GPUS]
    assert list(site.view.rooms("nobody", [])) == []


def test_a_group_tells_the_types_of_its_policy_and_of_its_instances_and_without_either_none(site: Site) -> None:
    assert list(site.view.rooms("a", ["mixed"])) == [MIXED]
    assert list(site.view.rooms("a", ["empty"])) == [EMPTY]


def test_reservations_in_force_tell_slots_free_ones_tag_and_end(site: Site) -> None:
    found = sorted(site.view.reservations(), key=lambda one: one.id)
    assert found == [*RESERVED]


def test_who_runs_in_a_reservation_is_told_by_group(site: Site) -> None:
    assert set(site.view.lived_in(["cr-1", "cr-2"], ["gpus", "others"])) == {"cr-1"}
    assert not site.view.lived_in(["cr-1", "cr-2"], ["others"])
    assert not site.view.lived_in(["cr-2"], ["gpus"])
    assert set(site.view.lived_in([*(f"cr-{number}" for number in range(2, 250)), "cr-1"], ["gpus"])) == {"cr-1"}


def test_an_empty_warm_pool_has_nothing_and_a_group_that_lacks_nothing_was_refused_nothing(site: Site) -> None:
    assert not site.view.warm("gpus")
    assert site.view.refusal("gpus") is None


class FakeAutoScaling:
    """What moto does not tell: a warm pool's instances, and activities."""

    def __init__(
        self, warm: tuple[Mapping[str, object], ...] = (), activities: tuple[dict[str, object], ...] = ()
    ) -> None:
        self._warm = warm
        self._activities = activities

    def get_paginator(self, name: str) -> "FakeAutoScaling":
        assert name == "describe_warm_pool"
        return self

    def paginate(self, **parameters: object) -> list[dict[str, object]]:
        assert parameters == {"AutoScalingGroupName": "gpus"}
        return [{"Instances": [each]} for each in self._warm]

    def describe_scaling_activities(self, **parameters: object) -> dict[str, object]:
        assert parameters["AutoScalingGroupName"] == "gpus"
        return {"Activities": list(self._activities)}


def refusal(*activities: dict[str, object]) -> Refusal | None:
    fake: Any = FakeAutoScaling(activities=activities)
    return Ec2Capacity(boto3.client("ec2", region_name=REGION), fake).refusal("gpus")


def activity(
    status: str, minutes: int, message: str = "", what: str = "Launching a new EC2 instance"
) -> dict[str, object]:
    started = NOW - timedelta(minutes=minutes)
    return {"Description": what, "StatusCode": status, "StartTime": started, "StatusMessage": message}


# Auto Scaling user guide, "Troubleshoot: Instance launch failure".
NONE_THERE = (
    "We currently do not have sufficient p5.48xlarge capacity in the Availability Zone you requested (us-east-1a)."
    " Launching EC2 instance failed."
)


def test_only_prepared_instances_of_a_warm_pool_count_each_for_its_type() -> None:
    p5 = ("Warmed:Stopped", "Warmed:Running", "Warmed:Pending", "Warmed:Terminating:Wait")
    inside = [{"LifecycleState": state, "InstanceType": "p5.48xlarge"} for state in p5]
    other = {"LifecycleState": "Warmed:Stopped", "InstanceType": "p4d.24xlarge"}
    fake: Any = FakeAutoScaling((*inside, other, {"LifecycleState": "Warmed:Hibernated"}))
    warm = Ec2Capacity(boto3.client("ec2", region_name=REGION), fake).warm("gpus")
    assert warm == {"p5.48xlarge": 2, "p4d.24xlarge": 1, "": 1}


def test_a_launch_that_failed_for_want_of_capacity_is_told_until_one_succeeds() -> None:
    failed = activity("Failed", 5, NONE_THERE)
    told = Refusal(NOW - timedelta(minutes=5), NONE_THERE, "p5.48xlarge")
    assert refusal(failed) == told
    assert refusal(activity("InProgress", 1), failed) == told
    assert refusal(activity("Successful", 2), failed) is None
    ended = activity("Successful", 1, what="Terminating EC2 instance: i-0a")
    assert refusal(ended, failed) == told


@pytest.mark.parametrize(
    "why",
    [
        # EC2 user guide, "Troubleshoot instance launch issues"; of a reservation that a group names.
        "You have requested more vCPU capacity than your current vCPU limit of 96 allows for the instance bucket.",
        "There is no Spot capacity available that matches your request. Launching EC2 instance failed.",
        "The requested Capacity Reservation 'cr-1' does not have sufficient compatible and available capacity.",
    ],
)
def test_a_refusal_that_names_no_type_is_of_none(why: str) -> None:
    assert refusal(activity("Failed", 5, why)) == Refusal(NOW - timedelta(minutes=5), why)


def test_a_launch_that_failed_for_another_reason_says_nothing_of_capacity() -> None:
    assert refusal(activity("Failed", 5, "The key pair 'x' does not exist. Launching EC2 instance failed.")) is None
    assert refusal() is None


class FakeEc2:
    """Pages of describe_instances: the reservations that their instances run in."""

    def __init__(self, pages: list[list[str]]) -> None:
        self._pages = pages

    def get_paginator(self, name: str) -> "FakeEc2":
        assert name == "describe_instances"
        return self

    def paginate(self, **_parameters: object) -> Iterator[dict[str, object]]:
        for page in self._pages:
            yield {"Reservations": [{"Instances": [{"CapacityReservationId": each}]} for each in page]}


def lived_in(pages: list[list[str]]) -> set[str]:
    fake: Any = FakeEc2(pages)
    asked = ["cr-1", "cr-2"]
    return set(Ec2Capacity(fake, boto3.client("autoscaling", region_name=REGION)).lived_in(asked, ["gpus"]))


def test_an_empty_page_is_no_answer_and_pages_without_an_end_are_a_failure() -> None:
    assert lived_in([[], ["cr-1"]]) == {"cr-1"}
    assert lived_in([[], []]) == set()
    assert lived_in([["cr-1"], ["cr-2"], *([[]] * 21)]) == {"cr-1", "cr-2"}
    with pytest.raises(DependencyError, match="more than 20 pages"):
        lived_in([["cr-1"]] * 21)


def test_a_role_without_the_right_is_a_failure_that_says_so() -> None:
    class Refusing:
        def get_paginator(self, _name: str) -> Any:  # noqa: ANN401 - boto3's paginator
            raise ClientError({"Error": {"Code": "UnauthorizedOperation"}}, "DescribeCapacityReservations")

    refusing: Any = Refusing()
    with pytest.raises(DependencyError, match="lacks the right"):
        Ec2Capacity(refusing, boto3.client("autoscaling", region_name=REGION)).reservations()
