"""The incidents table as `relight incident` reads it: three indexes and one item. It never asks for a task token."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from console.dlq.adapters.asking import asking
from functions.adapters.coordination_items import fitting, incident_key
from policies.contract.times import format_time
from policies.coordination.incident import Incident

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

LOG = logging.getLogger(__name__)
_FIELDS: Mapping[str, Any] = {
    "ProjectionExpression": "#document",
    "ExpressionAttributeNames": {"#document": "document"},
}


class DynamoIncidents:
    """See `console/incident/ports.py`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = table

    def open(self, cluster: str) -> Sequence[Incident]:
        """See the port."""
        return self._query("by-status", "cluster_status = :key", {":key": f"{cluster}#open"})

    def closed(self, cluster: str, since: datetime) -> Sequence[Incident]:
        """See the port."""
        values = {":key": f"{cluster}#closed", ":since": format_time(since)}
        return self._query("by-status", "cluster_status = :key AND updated_at > :since", values)

    def of_node(self, cluster: str, instance_id: str) -> Sequence[Incident]:
        """See the port."""
        return self._query("by-node", "node_key = :key", {":key": f"{cluster}#{instance_id}"})

    def of_job(self, cluster: str, job: str) -> Sequence[Incident]:
        """See the port."""
        return self._query("by-job", "job_key = :key", {":key": f"{cluster}#{fitting(job)}"})

    def load(self, incident_id: str) -> Incident | None:
        """See the port."""
        with asking(f"reading incident {incident_id}"):
            answer = self._client.get_item(
                TableName=self._table, Key=incident_key(incident_id), ConsistentRead=True, **_FIELDS
            )
        return _read(answer["Item"]) if "Item" in answer else None

    def _query(self, index: str, condition: str, values: Mapping[str, str]) -> Sequence[Incident]:
        with asking("listing incidents"):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                IndexName=index,
                KeyConditionExpression=condition,
                ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
                ScanIndexForward=False,
                **_FIELDS,
            )
            return list(_readable(item for page in pages for item in page["Items"]))


def _readable(items: Iterator[Mapping[str, Any]]) -> Iterator[Incident]:
    for item in items:
        incident = _read(item)
        if incident:
            yield incident


def _read(item: Mapping[str, Any]) -> Incident | None:
    try:
        return Incident.model_validate_json(item["document"]["S"])
    except (KeyError, ValueError):
        LOG.warning("an incident's item cannot be read by this version of relight: update it.")
        return None
