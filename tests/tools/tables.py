"""The tables as infra makes them, on moto."""

from typing import Any

from types_boto3_dynamodb import DynamoDBClient
from types_boto3_dynamodb.type_defs import GlobalSecondaryIndexTypeDef

INDEXES = {
    "by-status": ("cluster_status", "updated_at"),
    "by-node": ("node_key", "opened_at"),
    "by-job": ("job_key", "opened_at"),
}


def create_tables(client: DynamoDBClient) -> None:
    """Create ``fleet`` and ``incidents``, the latter with its three indexes."""
    client.create_table(
        TableName="fleet",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    names = {"pk", "sk", *(attribute for keys in INDEXES.values() for attribute in keys)}
    client.create_table(
        TableName="incidents",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in sorted(names)],
        GlobalSecondaryIndexes=[_index(name, *keys) for name, keys in INDEXES.items()],
        BillingMode="PAY_PER_REQUEST",
    )


def _index(name: str, partition: str, sort: str) -> GlobalSecondaryIndexTypeDef:
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"},
    }


def create_policies_table(client: DynamoDBClient, name: str = "policies", *, stream: bool = False) -> None:
    """Create *name*, with its stream where it is to be followed."""
    more: dict[str, Any] = (
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}} if stream else {}
    )
    client.create_table(
        **more,
        TableName=name,
        KeySchema=[{"AttributeName": "name", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "name", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def create_commands_table(client: DynamoDBClient) -> None:
    """Create ``commands``."""
    client.create_table(
        TableName="commands",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
