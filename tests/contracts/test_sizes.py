"""How large a cluster is: the twin and the fleet table answer alike."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.seen import DynamoSeen
from functions.adapters.sizes import SeenSizes
from functions.ports.coordination import Sizes
from functions.ports.triage import Heard
from functions.twins.sizes import MemorySizes
from tests.tools.incidents import CLUSTER, START
from tests.tools.tables import create_tables

Made = Callable[[int], Sizes]


@pytest.fixture(params=["memory", "dynamodb"])
def sized(request: pytest.FixtureRequest) -> Iterator[Made]:
    """Makes the sizes of a deployment whose cluster has so many living nodes, and one that was heard an hour ago."""
    if request.param == "memory":
        yield lambda nodes: MemorySizes({CLUSTER: nodes})
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)

        def make(nodes: int) -> Sizes:
            seen = DynamoSeen(client, "fleet", lambda: START)
            heard = [Heard(CLUSTER, f"i-{number}", "boot", START) for number in range(nodes)]
            seen.write([*heard, Heard(CLUSTER, "i-gone", "boot", START - timedelta(hours=1))])
            return SeenSizes(seen, lambda: START)

        yield make


def test_living_nodes_count(sized: Made) -> None:
    assert sized(40).count(CLUSTER) == 40


def test_an_unknown_cluster_has_none(sized: Made) -> None:
    assert sized(3).count("elsewhere") == 0
