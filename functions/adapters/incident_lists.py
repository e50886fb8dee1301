"""Lists of incidents in the incidents table, by its indexes. It never asks for a task token."""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling
from policies.contract.times import format_time
from policies.coordination.incident import Incident

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from types_boto3_dynamodb import DynamoDBClient

LOG = logging.getLogger(__name__)
DOCUMENT: Mapping[str, Any] = {
    "ProjectionExpression": "#document",
    "ExpressionAttributeNames": {"#document": "document"},
}
"""What is asked of an item: all but its task token."""


class DynamoIncidentLists:
    """See `functions/ports/incident_lists.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Read *table*."""
        self._client = client
        self._table = table

    def open(self, cluster: str, most: int | None = None) -> Sequence[Incident]:
        """See the port; all of them without *most*."""
        return self.query("by-status", "cluster_status = :key", {":key": f"{cluster}#open"}, most)

    def closed(self, cluster: str, since: datetime, most: int | None = None) -> Sequence[Incident]:
        """See the port; all of them without *most*."""
        values = {":key": f"{cluster}#closed", ":since": format_time(since)}
        return self.query("by-status", "cluster_status = :key AND updated_at > :since", values, most)

    def query(
        self, index: str, condition: str, values: Mapping[str, str], most: int | None = None
    ) -> Sequence[Incident]:
        """Return what *index* has under *condition*, last first. Raises DependencyError."""
        with calling("listing incidents"):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                IndexName=index,
                KeyConditionExpression=condition,
                ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
                ScanIndexForward=False,
                **DOCUMENT,
            )
            return list(islice(_readable(item for page in pages for item in page["Items"]), most))


def _readable(items: Iterator[Mapping[str, Any]]) -> Iterator[Incident]:
    for item in items:
        incident = read_document(item)
        if incident:
            yield incident


def read_document(item: Mapping[str, Any]) -> Incident | None:
    """Return the incident in *item*; None, and a line in the log, for one that this version cannot read."""
    try:
        return Incident.model_validate_json(item["document"]["S"])
    except (KeyError, ValueError):
        LOG.warning("an incident's item cannot be read by this version of relight: update it.")
        return None
