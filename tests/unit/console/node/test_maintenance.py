"""`relight node maintenance`: a person takes a node in hand, lets it go, and sees who has which."""

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from console.commands import node as command
from console.node.adapters import Ec2Names
from console.node.hands import DynamoHands
from console.node.parts import NodeError, Parts
from console.node.ports import Hands
from console.node.twins import MemoryHands, MemoryNames, MemoryNodeCommands
from functions.adapters.facts import DynamoFacts
from functions.ports.facts import FactKey
from policies.facts.maintenance import BROKEN, Maintenance, read_maintenance
from tests.tools.tables import create_tables

START = datetime(2026, 3, 1, 10, tzinfo=UTC)


class Desk:
    """A person at a terminal, with one cluster or two; i-0a and i-0b are in west."""

    def __init__(self, *clusters: str) -> None:
        self.now = START
        self.hands = MemoryHands()
        self.clusters = clusters or ("west",)

    def run(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        names = MemoryNames({"ip-10-0-0-1": "i-0a"}, {"i-0a": "west", "i-0b": "west", "i-bare": ""})
        parts = Parts(
            MemoryNodeCommands(), names, "arn:", lambda: self.now, lambda _seconds: None, self.hands, self.clusters
        )
        return command.perform(parser.parse_args(["maintenance", *words]), parts)

    def said(self, instance: str = "i-0a", cluster: str = "west") -> Maintenance:
        return self.hands.said[cluster, instance]


def test_a_node_is_taken_in_hand_for_two_hours_and_all_is_said_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    assert desk.run("i-0a", "--why", "new NIC", "--by", "ann") == 0
    assert desk.said() == Maintenance(until=START + timedelta(hours=2), since=START, by="ann", why="new NIC")
    out = capsys.readouterr().out
    assert "i-0a is in maintenance until 2026-03-01 12:00 UTC, by ann: new NIC." in out
    assert "relight node maintenance i-0a --end" in out


def test_it_may_be_named_by_its_name_and_for_another_time() -> None:
    desk = Desk()
    desk.run("ip-10-0-0-1", "--for", "1d", "--by", "ann")
    assert desk.said().until == START + timedelta(days=1)


@pytest.mark.parametrize("ahead", ["2", "soon", "30s", "15d", "-1h"])
def test_a_time_that_is_none_or_far_too_long_is_refused(ahead: str) -> None:
    desk = Desk()
    with pytest.raises(NodeError, match="--for"):
        desk.run("i-0a", f"--for={ahead}")
    assert desk.hands.said == {}


def test_whoever_had_it_before_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.run("i-0a", "--by", "bob", "--why", "memory")
    desk.run("i-0a", "--by", "ann")
    assert "Before: it is in maintenance until 2026-03-01 12:00 UTC, by bob: memory." in capsys.readouterr().out
    assert desk.said().by == "ann"


def test_it_is_let_go_and_the_word_tells_who_ended_it(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.run("i-0a", "--by", "ann")
    desk.now += timedelta(minutes=10)
    assert desk.run("i-0a", "--end", "--by", "bob") == 0
    assert (desk.said().until, desk.said().by, desk.said().ended_by) == (desk.now, "ann", "bob")
    assert "out of maintenance" in capsys.readouterr().out
    assert desk.run("i-0a", "--end") == 0
    assert "i-0a is not in maintenance." in capsys.readouterr().out


def test_a_node_that_ec2_does_not_know_is_taken_by_nobody() -> None:
    desk = Desk()
    with pytest.raises(NodeError, match="EC2 knows no instance i-typo"):
        desk.run("i-typo")
    assert desk.run("i-typo", "--end", "--cluster", "west") == 0


def test_of_several_clusters_the_tag_or_the_person_says_which() -> None:
    desk = Desk("west", "east")
    desk.run("i-0a")
    assert desk.said(cluster="west").since == START
    with pytest.raises(NodeError, match="carries no tag"):
        desk.run("i-bare")
    desk.run("i-bare", "--cluster", "east")
    assert desk.said("i-bare", "east").since == START
    with pytest.raises(NodeError, match="there is no cluster 'north' here"):
        desk.run("i-0a", "--cluster", "north")


def test_those_that_are_in_hand_are_listed_and_those_that_were_are_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    desk = Desk()
    assert desk.run() == 0
    assert capsys.readouterr().out == "Nobody has a node in hand.\n"
    desk.run("i-0a", "--by", "ann", "--why", "new NIC")
    desk.run("i-0b", "--for", "10m")
    desk.now += timedelta(hours=1)
    capsys.readouterr()
    desk.run()
    listed = capsys.readouterr().out
    assert "i-0a" in listed
    assert "new NIC" in listed
    assert "i-0b" not in listed
    desk.run("--json")
    [row] = json.loads(capsys.readouterr().out)["maintenance"]
    assert (row["node"], row["cluster"], row["by"]) == ("i-0a", "west", "ann")


def test_one_that_cannot_be_read_is_listed_until_it_is_ended(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.hands.put("west", "i-0a", BROKEN)
    desk.run()
    assert "ended by hand" in capsys.readouterr().out
    desk.run("i-0a", "--end")
    capsys.readouterr()
    desk.run()
    assert capsys.readouterr().out == "Nobody has a node in hand.\n"


def test_end_without_a_node_is_asked_wrongly() -> None:
    assert Desk().run("--end") == 2


@pytest.fixture(params=["twin", "dynamodb"])
def hands(request: pytest.FixtureRequest) -> Iterator[Hands]:
    if request.param == "twin":
        yield MemoryHands()
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        yield DynamoHands(client, "fleet", lambda: START)


def word(hours: float) -> Maintenance:
    return Maintenance(until=START + timedelta(hours=hours), since=START, by="ann")


def test_what_is_said_of_nodes_is_read_by_cluster(hands: Hands) -> None:
    for instance in ("i-0a", "i-0b"):
        hands.put("west", instance, word(2))
    hands.put("east", "i-0c", word(1))
    hands.put("west", "i-0b", word(3))
    assert hands.get("west", "i-0a") == word(2)
    assert hands.get("east", "i-0a") is None
    assert hands.everyone("west") == {"i-0a": word(2), "i-0b": word(3)}
    assert hands.everyone("north") == {}


def test_what_is_over_long_since_leaves_the_list_and_triage_reads_the_very_document() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        table = DynamoHands(client, "fleet", lambda: START)
        for number in range(120):
            table.put("west", f"i-{number}", word(-25))
        table.put("west", "i-0a", word(2))
        assert table.everyone("west") == {"i-0a": word(2)}
        key = FactKey("west", "maintenance", "i-0a")
        assert read_maintenance(DynamoFacts(client, "fleet").read([key])[key]) == word(2)


def test_ec2_tells_an_instances_cluster() -> None:
    with mock_aws():
        ec2 = boto3.client("ec2")
        image = ec2.describe_images()["Images"][0]["ImageId"]
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "relight:cluster", "Value": "west"}]}]
        [tagged] = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, TagSpecifications=tags)["Instances"]  # type: ignore[arg-type]
        [bare] = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"]
        names = Ec2Names(ec2)
        assert names.cluster_of(tagged["InstanceId"]) == "west"
        assert names.cluster_of(bare["InstanceId"]) == ""
        assert names.cluster_of("i-0123456789abcdef0") is None
