"""Which nodes people have in hand, in the fleet table.

``NODE#<instance>#maintenance`` is the truth, which triage and coordinate read. ``MAINTENANCE`` beside it holds the
instance ids as a set, only so that they can be listed without reading all that is kept of a cluster. It is written
after the document: whoever dies in between said what they meant, and says it again.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from console.dlq.adapters.asking import asking
from functions.adapters.facts import DynamoFacts
from functions.ports.facts import FactKey
from policies.facts.maintenance import MAINTENANCE, Maintenance, read_maintenance

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

LIST_KEY = "MAINTENANCE"
_LISTED = "nodes"
KEPT = timedelta(days=30)  # after it is over, for whoever asks who had it
_OVER_LONG_SINCE = timedelta(days=1)


class DynamoHands:
    """See `Hands` in `console/node/ports.py`."""

    def __init__(self, client: "DynamoDBClient", fleet_table: str, clock: Callable[[], datetime]) -> None:
        """Keep the client and the table's name; *clock* says what is over."""
        self._client = client
        self._table = fleet_table
        self._facts = DynamoFacts(client, fleet_table)
        self._clock = clock

    def get(self, cluster: str, instance_id: str) -> Maintenance | None:
        """See the port."""
        return self._read(cluster, [instance_id]).get(instance_id)

    def put(self, cluster: str, instance_id: str, maintenance: Maintenance) -> None:
        """See the port. What is over since yesterday leaves the list."""
        self._facts.keep(_key(cluster, instance_id), maintenance.to_json(), maintenance.until + KEPT)
        self._list(cluster, "ADD", [instance_id])
        listed = self._listed(cluster)
        known = self._read(cluster, listed)
        over = self._clock() - _OVER_LONG_SINCE
        self._list(cluster, "DELETE", [each for each in listed if each not in known or known[each].until < over])

    def everyone(self, cluster: str) -> Mapping[str, Maintenance]:
        """See the port."""
        return self._read(cluster, self._listed(cluster))

    def _read(self, cluster: str, instances: Collection[str]) -> dict[str, Maintenance]:
        found = self._facts.read([_key(cluster, each) for each in sorted(instances)])
        return {key.subject: read_maintenance(text) for key, text in found.items()}

    def _listed(self, cluster: str) -> frozenset[str]:
        with asking("reading which nodes are in maintenance"):
            answer = self._client.get_item(TableName=self._table, Key=_list_key(cluster), ConsistentRead=True)
        return frozenset(answer.get("Item", {}).get(_LISTED, {}).get("SS", ()))

    def _list(self, cluster: str, verb: str, instances: Collection[str]) -> None:
        if not instances:
            return
        with asking("keeping which nodes are in maintenance"):
            self._client.update_item(
                TableName=self._table,
                Key=_list_key(cluster),
                UpdateExpression=f"{verb} #nodes :nodes",
                ExpressionAttributeNames={"#nodes": _LISTED},
                ExpressionAttributeValues={":nodes": {"SS": sorted(instances)}},
            )


def _key(cluster: str, instance_id: str) -> FactKey:
    return FactKey(cluster, MAINTENANCE.name, instance_id)


def _list_key(cluster: str) -> "dict[str, AttributeValueTypeDef]":
    return {"pk": {"S": f"CLUSTER#{cluster}"}, "sk": {"S": LIST_KEY}}
