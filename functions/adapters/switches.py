"""The switches in the policies table: one consistent BatchGetItem for the policies of a batch and the stop of all.

Heads say what the guard accepted, and beside each may stand that its policy put itself in shadow. The stop is read as a
person wrote it, since a stop must not wait for the guard.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from functions.adapters.batch_get import batch_get
from functions.adapters.policy_items import key_of, untyped
from functions.adapters.self_shadows import PREFIX, DynamoSelfShadows, shadow_key, shadow_of
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING, SelfShadow, Switches, stop_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from types_boto3_dynamodb import DynamoDBClient


_SHADOWS = {f"#s{at}": name for at, name in enumerate(SelfShadow.model_fields)}
_FIELDS = {
    "#name": "name",
    "#mode": "mode",
    "#revision": "revision",
    "#by": "edited_by",
    "#reason": "reason",
    **_SHADOWS,
}


class DynamoSwitches:
    """See `Switchboard` in `functions/ports/coordination.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Read from *table*."""
        self._client = client
        self._table = table
        self._shadows = DynamoSelfShadows(client, table)

    def read(self, policies: Collection[str]) -> Switches:
        """See the port."""
        names = sorted(set(policies))
        heads, shadows = (key_of(name, "head") for name in names), (shadow_key(name) for name in names)
        keys = [key_of(EVERYTHING, "live"), *heads, *shadows]
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
        mine = [shadow_of(found.pop(name)) for name in list(found) if name.startswith(PREFIX)]
        modes = {name: _mode(item) for name, item in found.items()}
        revisions = {name: number for name, item in found.items() if (number := _revision(item))}
        return Switches(modes=modes, stop=stop, shadows={each.policy: each for each in mine}, revisions=revisions)

    def put_in_shadow(self, shadow: SelfShadow) -> None:
        """See the port."""
        self._shadows.put(shadow)


def _mode(head: dict[str, Any]) -> PolicyMode:
    """Return the head's mode; one that somebody broke by hand does not act."""
    try:
        return PolicyMode(head["mode"])
    except (KeyError, ValueError):
        return PolicyMode.OFF


def _revision(head: dict[str, Any]) -> int:
    """Return the head's number; 0 for one that somebody broke by hand, of which nobody knows."""
    number = head.get("revision")
    return int(number) if isinstance(number, Decimal) else 0
