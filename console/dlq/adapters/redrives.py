"""Marks of what was redriven, in the fleet table: ``REDRIVES#<id>`` / ``AT``.

They are the console's own items, beside the rejects: triage alone writes those.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from console.dlq.adapters.asking import asking
from functions.adapters.batch_get import batch_get
from policies.contract.times import format_time, parse_time

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

KEPT = timedelta(days=400)  # longer than the rejects bucket keeps anything by default (90 days)
_PREFIX, _SORT = "REDRIVES#", "AT"


class DynamoRedrives:
    """See `console/dlq/ports.py`."""

    def __init__(self, client: "DynamoDBClient", fleet_table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = fleet_table

    def times(self, ids: Collection[str]) -> Mapping[str, datetime]:
        """See the port."""
        wanted = [(self._table, _key(each)) for each in sorted(set(ids))]
        with asking("looking up what was redriven"):
            found = list(batch_get(self._client, wanted, "looking up what was redriven", ConsistentRead=True))
        return {item["pk"]["S"].removeprefix(_PREFIX): parse_time(item["redriven_at"]["S"]) for _, item in found}

    def mark(self, item_id: str, at: datetime) -> None:
        """See the port."""
        expires = str(int((at + KEPT).timestamp()))
        item: Any = {**_key(item_id), "redriven_at": {"S": format_time(at)}, "expires": {"N": expires}}
        with asking("marking it as redriven (it was sent)"):
            self._client.put_item(TableName=self._table, Item=item)


def _key(item_id: str) -> dict[str, Any]:
    return {"pk": {"S": f"{_PREFIX}{item_id}"}, "sk": {"S": _SORT}}
