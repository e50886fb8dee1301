"""Marks of what was redriven, in the fleet table: ``REDRIVES#<id>`` / ``AT``.

They are the console's own items, beside the rejects: triage alone writes those.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from console.dlq.adapters.asking import asking
from policies.contract.errors import DependencyError
from policies.contract.times import format_time, parse_time

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

KEPT = timedelta(days=400)  # longer than the rejects bucket keeps anything by default (90 days)
_PER_CALL = 100  # BatchGetItem takes no more keys
_MOST_ROUNDS = 10
_PREFIX, _SORT = "REDRIVES#", "AT"


class DynamoRedrives:
    """See `console/dlq/ports.py`."""

    def __init__(self, client: "DynamoDBClient", fleet_table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = fleet_table

    def times(self, ids: Collection[str]) -> Mapping[str, datetime]:
        """See the port."""
        keys = [_key(each) for each in sorted(set(ids))]
        return {
            item["pk"]["S"].removeprefix(_PREFIX): parse_time(item["redriven_at"]["S"])
            for start in range(0, len(keys), _PER_CALL)
            for item in self._get(keys[start : start + _PER_CALL])
        }

    def _get(self, keys: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
        left: Any = {self._table: {"Keys": keys, "ConsistentRead": True}}
        for _ in range(_MOST_ROUNDS):
            with asking("looking up what was redriven"):
                answer = self._client.batch_get_item(RequestItems=left)
            yield from answer["Responses"].get(self._table, [])
            left = answer.get("UnprocessedKeys")
            if not left:
                return
        raise DependencyError("looking up what was redriven took too long.", hint="Run it again in a minute.")

    def mark(self, item_id: str, at: datetime) -> None:
        """See the port."""
        expires = str(int((at + KEPT).timestamp()))
        item: Any = {**_key(item_id), "redriven_at": {"S": format_time(at)}, "expires": {"N": expires}}
        with asking("marking it as redriven (it was sent)"):
            self._client.put_item(TableName=self._table, Item=item)


def _key(item_id: str) -> dict[str, Any]:
    return {"pk": {"S": f"{_PREFIX}{item_id}"}, "sk": {"S": _SORT}}
