"""Which instance types a group's description tells, and how many calls of AWS the minute's look at them takes."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.adapters.capacity import Ec2Capacity
from functions.settings import ClusterSettings
from functions.sweep.capacity_look import CapacityLook
from functions.twins.facts import MemoryFacts
from local.aws.services import capacity_reservations
from policies.facts.capacity import Capacity

REGION = "us-east-1"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Described:
    """One group as Auto Scaling describes it where moto does not."""

    def __init__(self, **more: object) -> None:
        self._group = {"AutoScalingGroupName": "gpus", "DesiredCapacity": 1, "MaxSize": 1, **more}

    def get_paginator(self, _name: str) -> "Described":
        return self

    def paginate(self, **_parameters: object) -> list[dict[str, object]]:
        return [{"AutoScalingGroups": [self._group]}]


def policy(*overrides: Mapping[str, object]) -> dict[str, object]:
    return {"LaunchTemplate": {"LaunchTemplateSpecification": {"LaunchTemplateName": "lt"}, "Overrides": overrides}}


P5, ANY = {"InstanceType": "p5.48xlarge"}, {"InstanceRequirements": {"AllowedInstanceTypes": ["p*"]}}


@pytest.mark.parametrize(
    ("described", "types", "others"),
    [
        ({"Instances": [P5, P5, {"InstanceType": "p4d.24xlarge"}]}, {"p5.48xlarge": 2, "p4d.24xlarge": 1}, False),
        ({"Instances": [{"InstanceId": "i-1"}]}, {}, False),
        ({"MixedInstancesPolicy": policy(P5), "Instances": []}, {"p5.48xlarge": 0}, False),
        ({"MixedInstancesPolicy": policy(ANY), "Instances": [P5]}, {"p5.48xlarge": 1}, True),
        ({"MixedInstancesPolicy": policy(P5, {"WeightedCapacity": "2"})}, {"p5.48xlarge": 0}, True),
        ({"MixedInstancesPolicy": policy(), "Instances": [P5]}, {"p5.48xlarge": 1}, True),
        ({}, {}, False),
    ],
)
def test_what_a_group_may_launch_beyond_the_types_that_it_tells_is_said(
    described: dict[str, object], types: dict[str, int], others: bool
) -> None:
    fake: Any = Described(**described)
    (room,) = Ec2Capacity(boto3.client("ec2", region_name=REGION), fake).rooms("a", ["gpus"])
    assert (room.types, room.others) == (types, others)


def test_a_minute_of_a_mixed_cluster_takes_one_call_a_group_and_pool_and_three_more() -> None:
    with mock_aws():
        ec2, autoscaling = boto3.client("ec2", region_name=REGION), boto3.client("autoscaling", region_name=REGION)
        image = ec2.describe_images()["Images"][0]["ImageId"]
        for name in ("p5.48xlarge", "p4d.24xlarge"):
            autoscaling.create_launch_configuration(LaunchConfigurationName=name, ImageId=image, InstanceType=name)
            autoscaling.create_auto_scaling_group(
                AutoScalingGroupName=name,
                LaunchConfigurationName=name,
                MinSize=0,
                MaxSize=4,
                DesiredCapacity=2,
                AvailabilityZones=[f"{REGION}a"],
            )
        autoscaling.put_warm_pool(AutoScalingGroupName="p5.48xlarge")
        capacity_reservations.apply()
        capacity_reservations.set_all([{"id": "cr-1", "slots": 4}], region=REGION)
        calls = Counter[str]()
        for client in (ec2, autoscaling):
            client.meta.events.register("before-call", lambda model, **_more: calls.update([model.name]))
        facts = MemoryFacts()
        named = ClusterSettings(name="a", orchestrator="eks", auto_scaling_groups=("p5.48xlarge", "p4d.24xlarge"))
        CapacityLook(Ec2Capacity(ec2, autoscaling), facts, lambda: NOW).look([named], NOW)
    assert calls == {
        "DescribeAutoScalingGroups": 1,
        "DescribeWarmPool": 1,
        "DescribeScalingActivities": 2,
        "DescribeCapacityReservations": 1,
        "DescribeInstances": 1,
    }
    (text,) = facts.texts.values()
    assert {"p5.48xlarge", "p4d.24xlarge"} == Capacity.model_validate_json(text).by_type.keys()
