"""What every fleet of instances does: the twin, and EC2 with Auto Scaling (on moto)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.dynamodb_claims import DynamoClaims
from functions.adapters.ec2_instances import Ec2Instances
from functions.ports.instances import Claims, Group, Instances
from functions.twins.instances import MemoryClaims, MemoryInstances
from tests.tools.tables import create_tables

GROUP = "gpus"
REGION = "us-east-1"


@dataclass
class Fleet:
    instances: Instances
    members: list[str]
    loner: str
    suspend: Callable[[], None]


@pytest.fixture(params=["twin", "aws"])
def fleet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    if request.param == "twin":
        twin = MemoryInstances(lambda: datetime.now(UTC))

        def suspend() -> None:
            twin.suspended[GROUP] = "its process Launch is suspended (a person); resume it"

        yield Fleet(twin, [twin.launch(GROUP), twin.launch(GROUP)], twin.launch(), suspend)
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        yield _on_moto()


def _on_moto() -> Fleet:
    ec2 = boto3.client("ec2", region_name=REGION)
    autoscaling = boto3.client("autoscaling", region_name=REGION)
    image = ec2.describe_images()["Images"][0]["ImageId"]
    autoscaling.create_launch_configuration(LaunchConfigurationName="lc", ImageId=image, InstanceType="p5.48xlarge")
    autoscaling.create_auto_scaling_group(
        AutoScalingGroupName=GROUP,
        LaunchConfigurationName="lc",
        MinSize=0,
        MaxSize=4,
        DesiredCapacity=2,
        AvailabilityZones=[f"{REGION}a"],
    )
    loner = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    adapter = Ec2Instances(ec2, autoscaling)

    def suspend() -> None:
        autoscaling.suspend_processes(AutoScalingGroupName=GROUP, ScalingProcesses=["Launch"])

    return Fleet(adapter, list(_members(adapter)), loner, suspend)


def _members(instances: Instances) -> tuple[str, ...]:
    group = instances.group(GROUP)
    assert group is not None
    return group.members


def test_instances_are_described_and_unknown_ones_left_out(fleet: Fleet) -> None:
    known = fleet.instances.describe([*fleet.members, "i-0123456789abcdef0"])
    assert set(known) == set(fleet.members)
    for instance in known.values():
        assert instance.state == "running"
        assert abs(datetime.now(UTC) - instance.launched_at) < timedelta(minutes=1)
    assert fleet.instances.describe([]) == {}


def test_a_member_knows_its_group_and_a_loner_has_none(fleet: Fleet) -> None:
    membership = fleet.instances.membership(fleet.members[0])
    assert membership is not None
    assert (membership.group, membership.leaving) == (GROUP, False)
    assert fleet.instances.membership(fleet.loner) is None
    assert fleet.instances.membership("i-0123456789abcdef0") is None


def test_a_replaced_member_ends_and_the_group_keeps_its_size(fleet: Fleet) -> None:
    old = fleet.members[0]
    fleet.instances.replace(old)
    after = [each for each in _members(fleet.instances) if each != old]
    assert len(after) == 2
    assert fleet.instances.describe([old])[old].state in {"shutting-down", "terminated"}
    membership = fleet.instances.membership(old)
    assert membership is None or membership.leaving


def test_a_group_tells_what_it_wants_and_whether_it_launches(fleet: Fleet) -> None:
    group = fleet.instances.group(GROUP)
    assert group == Group(tuple(fleet.members), 2, "")
    fleet.suspend()
    stopped = fleet.instances.group(GROUP)
    assert stopped is not None
    assert "Launch is suspended" in stopped.stopped
    assert fleet.instances.group("none") is None


def test_replacing_twice_launches_one_successor(fleet: Fleet) -> None:
    for _ in range(2):
        fleet.instances.replace(fleet.members[0])
    assert len([each for each in _members(fleet.instances) if each not in fleet.members]) == 1


def test_a_loner_is_stopped_and_stopping_it_again_does_nothing(fleet: Fleet) -> None:
    for _ in range(2):
        fleet.instances.stop(fleet.loner)
    assert fleet.instances.describe([fleet.loner])[fleet.loner].state in {"stopping", "stopped"}


def test_a_running_instance_has_checks_and_an_unknown_one_none(fleet: Fleet) -> None:
    checks = fleet.instances.checks(fleet.members[0])
    assert checks is not None
    assert (checks.instance, checks.system) == ("ok", "ok")
    assert fleet.instances.checks("i-0123456789abcdef0") is None


def test_consoles_are_text_and_activities_a_list(fleet: Fleet) -> None:
    assert isinstance(fleet.instances.console(fleet.members[0]), str)
    assert fleet.instances.console("i-0123456789abcdef0") == ""
    assert list(fleet.instances.failed_launches(GROUP, datetime.now(UTC))) == []


@pytest.fixture(params=["twin", "dynamodb"])
def claims(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Claims]:
    if request.param == "twin":
        yield MemoryClaims()
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        client = boto3.client("dynamodb", region_name=REGION)
        create_tables(client)
        yield DynamoClaims(client, "incidents")


def test_a_replacement_belongs_to_the_first_incident_that_claims_it(claims: Claims) -> None:
    now = datetime.now(UTC)
    assert claims.claim("i-1", "first", now) == "first"
    assert claims.claim("i-1", "second", now) == "first"
    assert claims.claim("i-1", "first", now) == "first"
    assert claims.claim("i-2", "second", now) == "second"
