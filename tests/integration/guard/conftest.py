"""A table of policies on moto, for each test its own."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws
from types_boto3_dynamodb import DynamoDBClient

from tests.tools.tables import create_policies_table


@pytest.fixture
def client() -> Iterator[DynamoDBClient]:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        yield client
