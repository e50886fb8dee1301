"""The stores that a contract holds for: the twin, and the real one on moto."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.ports.coordination import CoordinationStore
from policies.coordination.memory import MemoryStore
from tests.tools.tables import create_tables


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest) -> Iterator[CoordinationStore]:
    if request.param == "memory":
        yield MemoryStore()
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        yield DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
