"""How large a cluster is: the twin and the fleet table answer alike."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.seen import DynamoSeen
from functions.adapters.sizes import SeenSizes
from functions.adapters.topology import DynamoTopology
from functions.place_book import PlaceBook
from functions.ports.coordination import Sizes
from functions.ports.triage import Heard
from functions.twins.sizes import MemorySizes
from policies.contract.envelope import NodeIdentity
from tests.tools.incidents import CLUSTER, START
from tests.tools.tables import create_tables

Made = Callable[[int], Sizes]


@pytest.fixture(params=["memory", "dynamodb"])
def sized(request: pytest.FixtureRequest) -> Iterator[Made]:
    """Makes the sizes of a deployment whose cluster has so many living nodes, and one that was heard an hour ago.

    Every second one is in rack-1, the others' places are not known.
    """
    if request.param == "memory":
        yield lambda nodes: MemorySizes({CLUSTER: nodes}, {(CLUSTER, "rack-1"): (nodes + 1) // 2})
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)

        def make(nodes: int) -> Sizes:
            seen = DynamoSeen(client, "fleet", lambda: START)
            heard = [Heard(CLUSTER, f"i-{number}", "boot", START) for number in range(nodes)]
            seen.write([*heard, Heard(CLUSTER, "i-gone", "boot", START - timedelta(hours=1))])
            topology = DynamoTopology(client, "fleet")
            for number in range(0, nodes, 2):
                topology.keep(_placed(f"i-{number}"), START + timedelta(days=1))
            topology.keep(_placed("i-gone"), START + timedelta(days=1))
            return SeenSizes(seen, PlaceBook(topology), lambda: START)

        yield make


def test_living_nodes_count(sized: Made) -> None:
    assert sized(40).living(CLUSTER, [""]) == {"": 40}


def _placed(instance: str) -> NodeIdentity:
    """Return a node in rack-1: every second one is."""
    return NodeIdentity(cluster=CLUSTER, name=instance, instance_id=instance, network_path=("spine", "leaf", "rack-1"))


def test_living_nodes_of_a_rack_count(sized: Made) -> None:
    sizes = sized(41)
    for _again in range(2):
        assert sizes.living(CLUSTER, ["rack-1", "rack-2"]) == {"rack-1": 21, "rack-2": 0}
    assert sizes.living(CLUSTER, ["", "rack-1"]) == {"": 41, "rack-1": 21}


def test_an_unknown_cluster_has_none(sized: Made) -> None:
    assert sized(3).living("elsewhere", ["", "rack-1"]) == {"": 0, "rack-1": 0}


class _Seen(DynamoSeen):
    """Counts the readings of all signs of life."""

    readings = 0

    def everyone(self, cluster: str) -> Mapping[str, Heard]:
        self.readings += 1
        return super().everyone(cluster)


def test_however_many_racks_are_asked_for_the_signs_of_life_are_read_once_and_unknown_places_once_a_minute() -> None:
    now = START
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        seen, topology = _Seen(client, "fleet", lambda: START), DynamoTopology(client, "fleet")
        seen.write([Heard(CLUSTER, "i-0", "boot", START)])
        sizes = SeenSizes(seen, PlaceBook(topology), lambda: now)
        assert sizes.living(CLUSTER, ["", *(f"rack-{number}" for number in range(9))])["rack-1"] == 0
        assert seen.readings == 1
        topology.keep(_placed("i-0"), START + timedelta(days=1))
        assert sizes.living(CLUSTER, ["rack-1"]) == {"rack-1": 0}
        now = START + timedelta(seconds=61)
        assert sizes.living(CLUSTER, ["rack-1"]) == {"rack-1": 1}
