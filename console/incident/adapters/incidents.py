"""The incidents table as `relight incident` reads it: three indexes and one item. It never asks for a task token."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from console.dlq.adapters.asking import asking
from functions.adapters.coordination_items import fitting, incident_key
from functions.adapters.incident_lists import DOCUMENT, DynamoIncidentLists, read_document
from policies.coordination.incident import Incident

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoIncidents:
    """See `console/incident/ports.py`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = table
        self._lists = DynamoIncidentLists(client, table)

    def open(self, cluster: str) -> Sequence[Incident]:
        """See the port."""
        return self._lists.open(cluster)

    def closed(self, cluster: str, since: datetime) -> Sequence[Incident]:
        """See the port."""
        return self._lists.closed(cluster, since)

    def of_node(self, cluster: str, instance_id: str) -> Sequence[Incident]:
        """See the port."""
        return self._lists.query("by-node", "node_key = :key", {":key": f"{cluster}#{instance_id}"})

    def of_job(self, cluster: str, job: str) -> Sequence[Incident]:
        """See the port."""
        return self._lists.query("by-job", "job_key = :key", {":key": f"{cluster}#{fitting(job)}"})

    def load(self, incident_id: str) -> Incident | None:
        """See the port."""
        with asking(f"reading incident {incident_id}"):
            answer = self._client.get_item(
                TableName=self._table, Key=incident_key(incident_id), ConsistentRead=True, **DOCUMENT
            )
        return read_document(answer["Item"]) if "Item" in answer else None
