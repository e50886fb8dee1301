"""Lists of incidents in the incidents table, by its index on status. It never asks for a task token."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling
from policies.contract.times import format_time
from policies.coordination.incident import Incident

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from types_boto3_dynamodb import DynamoDBClient

_INDEX = "by-status"


class DynamoIncidentLists:
    """See `functions/ports/incident_lists.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Read *table*."""
        self._client = client
        self._table = table

    def open(self, cluster: str, most: int) -> Sequence[Incident]:
        """See the port."""
        return self._query("cluster_status = :key", {":key": f"{cluster}#open"}, most)

    def closed(self, cluster: str, since: datetime, most: int) -> Sequence[Incident]:
        """See the port."""
        values = {":key": f"{cluster}#closed", ":since": format_time(since)}
        return self._query("cluster_status = :key AND updated_at > :since", values, most)

    def _query(self, condition: str, values: Mapping[str, str], most: int) -> Sequence[Incident]:
        with calling("listing incidents"):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                IndexName=_INDEX,
                KeyConditionExpression=condition,
                ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
                ScanIndexForward=False,
                ProjectionExpression="#document",
                ExpressionAttributeNames={"#document": "document"},
            )
            return list(islice(_readable(item for page in pages for item in page["Items"]), most))


def _readable(items: Iterator[Mapping[str, Any]]) -> Iterator[Incident]:
    for item in items:
        try:
            yield Incident.model_validate_json(item["document"]["S"])
        except (KeyError, ValueError):
            continue  # the outbox told of it when it was written
