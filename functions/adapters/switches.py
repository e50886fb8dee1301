"""The switches in the policies table: one consistent BatchGetItem for the policies of a batch and the stop of all.

Heads say what the guard accepted. The stop is read as a person wrote it, since a stop must not wait for the guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.adapters.batch_get import batch_get
from functions.adapters.policy_items import key_of, untyped
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING, Switches, stop_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from types_boto3_dynamodb import DynamoDBClient


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
        read = batch_get(
            self._client,
            [(self._table, key) for key in keys],
            "reading the policies' modes",
            ConsistentRead=True,
            ProjectionExpression=", ".join(_FIELDS),
            ExpressionAttributeNames=_FIELDS,
        )
        found = {item["name"]: item for item in (untyped(each) for _, each in read)}
        stop = stop_of(found.pop(EVERYTHING, None))
        return Switches(modes={name: _mode(item) for name, item in found.items()}, stop=stop)


def _mode(head: dict[str, Any]) -> PolicyMode:
    """Return the head's mode; one that somebody broke by hand does not act."""
    try:
        return PolicyMode(head["mode"])
    except (KeyError, ValueError):
        return PolicyMode.OFF
