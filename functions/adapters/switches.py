"""The switches in the policies table: one consistent BatchGetItem for the policies of a batch and the stop of all.

Heads say what the guard accepted. The stop is read as a person wrote it, since a stop must not wait for the guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling
from functions.adapters.policy_items import key_of, untyped
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING, Switches, stop_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from types_boto3_dynamodb import DynamoDBClient

    from functions.adapters.policy_items import Item

BATCH_KEYS = 100  # what one BatchGetItem takes (DynamoDB quotas)
BATCH_TRIES = 5  # unprocessed keys are throttled ones; the client has backed off between tries of its own
_FIELDS = {"#name": "name", "#mode": "mode", "#by": "edited_by", "#reason": "reason"}


class DynamoSwitches:
    """See `Switchboard` in `functions/ports/coordination.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Read from *table*."""
        self._client = client
        self._table = table

    def read(self, policies: Collection[str]) -> Switches:
        """See the port."""
        keys = [key_of(EVERYTHING, "live"), *(key_of(name, "head") for name in sorted(set(policies)))]
        batches = (keys[start : start + BATCH_KEYS] for start in range(0, len(keys), BATCH_KEYS))
        found = {item["name"]: item for batch in batches for item in self._get(batch)}
        stop = stop_of(found.pop(EVERYTHING, None))
        return Switches(modes={name: _mode(item) for name, item in found.items()}, stop=stop)

    def _get(self, keys: Sequence[Item]) -> Iterator[dict[str, Any]]:
        names = ", ".join(_FIELDS)
        wanted: dict[str, Any] = {
            "Keys": list(keys),
            "ConsistentRead": True,
            "ProjectionExpression": names,
            "ExpressionAttributeNames": _FIELDS,
        }
        for _ in range(BATCH_TRIES):
            with calling("reading the policies' modes"):
                answer = self._client.batch_get_item(RequestItems={self._table: wanted})  # type: ignore[dict-item]
            yield from map(untyped, answer["Responses"].get(self._table, ()))
            left = answer["UnprocessedKeys"].get(self._table)
            if not left:
                return
            wanted = dict(left)
        raise DependencyError("DynamoDB left keys unread.", hint="The table is throttled; it is tried again.")


def _mode(head: dict[str, Any]) -> PolicyMode:
    """Return the head's mode; one that somebody broke by hand does not act."""
    try:
        return PolicyMode(head["mode"])
    except (KeyError, ValueError):
        return PolicyMode.OFF
