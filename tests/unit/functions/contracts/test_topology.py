"""What the topology store and EC2's directory do: the twins and AWS (on moto)."""

from collections.abc import Iterator
from datetime import UTC, datetime

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from functions.adapters.topology import BotoEc2Directory, DynamoTopology
from functions.ports.topology import Described, Ec2Directory, TopologyStore
from functions.twins.topology import MemoryEc2Directory, MemoryTopology
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError
from tests.tools.tables import create_tables

EXPIRES = datetime(2027, 3, 1, tzinfo=UTC)
TAGS = {"relight:cluster": "a"}


def node(instance: str, cluster: str = "a") -> NodeIdentity:
    return NodeIdentity(cluster=cluster, name=f"ip-{instance}", instance_id=instance, instance_type="p5.48xlarge")


@pytest.fixture(params=["twin", "dynamodb"])
def store(request: pytest.FixtureRequest) -> Iterator[TopologyStore]:
    if request.param == "twin":
        yield MemoryTopology()
        return
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        yield DynamoTopology(client, "fleet")


def test_who_is_kept_is_found_in_its_cluster_only(store: TopologyStore) -> None:
    store.keep(node("i-1"), EXPIRES)
    store.keep(node("i-2", cluster="b"), EXPIRES)
    assert store.find(["a", "b"], ["i-1", "i-2", "i-3"]) == {"i-1": node("i-1"), "i-2": node("i-2", cluster="b")}
    assert store.find(["a"], ["i-1", "i-2"]) == {"i-1": node("i-1")}


def test_keeping_again_replaces(store: TopologyStore) -> None:
    store.keep(node("i-1"), EXPIRES)
    changed = node("i-1").model_copy(update={"name": "renamed"})
    store.keep(changed, EXPIRES)
    assert store.find(["a"], ["i-1"]) == {"i-1": changed}


def test_more_are_found_than_one_read_takes(store: TopologyStore) -> None:
    names = [f"i-{number:08x}" for number in range(120)]
    for name in names[::40]:
        store.keep(node(name), EXPIRES)
    assert sorted(store.find(["a", "b"], names)) == names[::40]


def test_nobody_asked_for_is_nobody_found(store: TopologyStore) -> None:
    assert store.find(["a"], []) == {}


@pytest.fixture(params=["twin", "ec2"])
def directory(request: pytest.FixtureRequest) -> Iterator[tuple[Ec2Directory, list[str]]]:
    if request.param == "twin":
        twin = MemoryEc2Directory()
        for name in ("i-1", "i-2"):
            twin.instances[name] = Described(name, f"ip-{name}.ec2.internal", "p5.48xlarge", "us-east-1a", TAGS)
        yield twin, ["i-1", "i-2"]
        return
    with mock_aws():
        client = boto3.client("ec2", region_name="us-east-1")
        image = client.describe_images()["Images"][0]["ImageId"]
        made = client.run_instances(
            ImageId=image,
            InstanceType="p5.48xlarge",
            MinCount=2,
            MaxCount=2,
            Placement={"AvailabilityZone": "us-east-1a"},
            TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "relight:cluster", "Value": "a"}]}],
        )
        yield BotoEc2Directory(client), [it["InstanceId"] for it in made["Instances"]]


def test_ec2_says_what_an_identity_needs(directory: tuple[Ec2Directory, list[str]]) -> None:
    ec2, instances = directory
    found = ec2.describe(instances)
    assert sorted(found) == sorted(instances)
    described = found[instances[0]]
    assert (described.instance_type, described.availability_zone) == ("p5.48xlarge", "us-east-1a")
    assert described.tags["relight:cluster"] == "a"
    assert described.name.startswith("ip-")


def test_an_unknown_or_malformed_id_is_no_error(directory: tuple[Ec2Directory, list[str]]) -> None:
    ec2, instances = directory
    assert list(ec2.describe([instances[0], "i-0000000000000dead", "i-12345678abcdefghi"])) == [instances[0]]
    assert ec2.describe([]) == {}


class FakePlaces:
    """Answers of describe_instance_topology, as EC2's are."""

    def describe_instance_topology(self, *, InstanceIds: list[str]) -> dict[str, object]:  # noqa: N803 - boto3's name
        assert len(InstanceIds) <= 100
        if "i-gone" in InstanceIds:
            raise ClientError({"Error": {"Code": "InvalidInstanceID.NotFound"}}, "DescribeInstanceTopology")
        known = [name for name in InstanceIds if not name.endswith("stopped")]
        return {"Instances": [{"InstanceId": name, "NetworkNodes": ["nn-1", "nn-2", "nn-3"]} for name in known]}


def test_where_running_instances_are_is_told_outermost_first() -> None:
    names = [f"i-{number}" for number in range(150)]
    found = BotoEc2Directory(FakePlaces()).places([*names, "i-stopped", "i-gone"])  # type: ignore[arg-type]  # a fake of one call
    assert found == dict.fromkeys(names, ("nn-1", "nn-2", "nn-3"))
    twin = MemoryEc2Directory()
    twin.paths = {"i-1": ("nn-1", "nn-2", "nn-3")}
    assert twin.places(["i-1", "i-stopped"]) == {"i-1": ("nn-1", "nn-2", "nn-3")}


class FakeEc2:
    """Pages of describe_instances, and what it was asked."""

    def __init__(self, pages: list[dict[str, object]]) -> None:
        self.pages = pages
        self.asked: list[dict[str, object]] = []

    def get_paginator(self, name: str) -> "FakeEc2":
        assert name == "describe_instances"
        return self

    def paginate(self, **parameters: object) -> list[dict[str, object]]:
        self.asked.append(parameters)
        return self.pages


def test_a_reservations_instances_come_from_all_pages() -> None:
    fake = FakeEc2([{"Reservations": [{"Instances": [{"InstanceId": f"i-{number}"}]}]} for number in range(3)])
    found = BotoEc2Directory(fake).in_reservation("cr-1")  # type: ignore[arg-type]  # a fake of the one call made
    assert list(found) == ["i-0", "i-1", "i-2"]
    assert fake.asked == [{"Filters": [{"Name": "capacity-reservation-id", "Values": ["cr-1"]}]}]


def test_a_table_that_is_not_there_is_a_failed_dependency() -> None:
    with mock_aws():
        store = DynamoTopology(boto3.client("dynamodb", region_name="us-east-1"), "none")
        with pytest.raises(DependencyError, match="reading topology items"):
            store.find(["a"], ["i-1"])
        with pytest.raises(DependencyError, match="keeping a topology item"):
            store.keep(node("i-1"), EXPIRES)
