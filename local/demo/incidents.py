"""Reads incidents as the console does: the META items of the incidents table, each a whole document."""

from boto3.dynamodb.types import TypeDeserializer

from local.aws.server import EmbeddedAws
from policies.coordination.incident import Incident

_DESERIALIZER = TypeDeserializer()


def read_incidents(aws: EmbeddedAws, table: str) -> list[Incident]:
    """Every incident, oldest first."""
    pages = (
        aws.client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=table,
            FilterExpression="sk = :meta",
            ExpressionAttributeValues={":meta": {"S": "META"}},
            ConsistentRead=True,
        )
    )
    items = [item for page in pages for item in page["Items"]]
    documents = [str(_DESERIALIZER.deserialize(item["document"])) for item in items]
    return sorted(map(Incident.model_validate_json, documents), key=lambda incident: incident.opened_at)
