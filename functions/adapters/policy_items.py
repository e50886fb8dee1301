"""Policies as DynamoDB items: keys, the shapes of `head` and listing, plain values there and back.

It must not call DynamoDB.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from functions.ports.policies import Head, Heading
from policies.contract.vocabulary import PolicyMode
from policies.documents import BOOKKEEPING
from policies.model import Policy, written_names

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = dict[str, AttributeValueTypeDef]

LISTING, LISTING_PREFIX = "HEADS", "p:"
MOST_CONDITIONS = 60  # a condition expression has at most 4 KB
_read, _write = TypeDeserializer(), TypeSerializer()


def key_of(name: str, sort: str) -> Item:
    """Return the key of one item."""
    return {"name": {"S": name}, "sk": {"S": sort}}


def typed(item: Mapping[str, Any]) -> Item:
    """Return plain values in DynamoDB's form."""
    return {key: _write.serialize(_exact(value)) for key, value in item.items()}


def untyped(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return DynamoDB's form as plain values (numbers as Decimal)."""
    return {key: _read.deserialize(value) for key, value in item.items()}


def _exact(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """DynamoDB knows no binary floats; their shortest text is what was written."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, Mapping):
        return {key: _exact(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(inner) for inner in value]
    return value


def head_item(head: Head, sort: str) -> dict[str, Any]:
    """Return *head* as the item ``head`` or ``rev#n``."""
    return {
        "name": head.name,
        "sk": sort,
        "revision": head.revision,
        "hash": head.hash,
        "mode": head.mode.value,
        "document": head.document,
    }


def head_of(item: Mapping[str, Any]) -> Head:
    """Return what `head_item` made an item of."""
    return Head(item["name"], int(item["revision"]), item["hash"], PolicyMode(item["mode"]), item["document"])


def headings_of(listing: Mapping[str, Any]) -> list[Heading]:
    """Return the lines of the listing item."""
    return [
        Heading(name.removeprefix(LISTING_PREFIX), int(one["revision"]), one["hash"], PolicyMode(one["mode"]))
        for name, one in listing.items()
        if name.startswith(LISTING_PREFIX)
    ]


def unchanged(seen: Mapping[str, Any]) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Return the condition (with names and values) that an operator's fields are still those of *seen*.

    An item with more fields than a condition can hold is junk; then it only has to be there still.
    """
    own = sorted(name for name in seen if name not in BOOKKEEPING and name != "name")
    absent = sorted(name for name in written_names(Policy) if name not in seen)
    if len(own) + len(absent) > MOST_CONDITIONS:
        return "attribute_exists(sk)", {}, {}
    names = {f"#f{at}": name for at, name in enumerate([*own, *absent])}
    values = {f":f{at}": seen[name] for at, name in enumerate(own)}
    same = [f"#f{at} = :f{at}" for at in range(len(own))]
    gone = [f"attribute_not_exists(#f{at})" for at in range(len(own), len(names))]
    return " AND ".join(["attribute_exists(sk)", *same, *gone]), names, values
