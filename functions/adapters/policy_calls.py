"""Calls that wrote policies, as items of the policies table: ``#call#<policy>``, sort key time, id and item written.

A partition of their own, so that who notes them may write nothing else there. It must not decide whose edit it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from functions.adapters.aws import calling
from functions.adapters.policy_items import key_of, typed, untyped
from functions.ports.calls import ANY, Call, Way
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from types_boto3_dynamodb import DynamoDBClient

    from functions.adapters.policy_items import Item

PREFIX = "#call#"
_LONGEST = 1024  # of the 2,048 bytes that DynamoDB takes as a partition key; no policy has a name of more than 64


def _partition(policy: str) -> str:
    """Return the partition of *policy*: somebody may have written an item under a name of any length."""
    return f"{PREFIX}{policy if len(policy.encode()) <= _LONGEST else stable_id('name', policy)}"


def item_of(call: Call) -> Item:
    """Return *call* as an item."""
    at = format_time(call.at)
    told = {"at": at, "id": call.id, "item": call.item, "by": call.by, "action": call.action, "way": call.way}
    return {**typed(told), **key_of(_partition(call.policy), f"{at}#{call.id}#{call.item}")}


class DynamoCalls:
    """See `Calls` in `functions/ports/calls.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use *table*."""
        self._client = client
        self._table = table

    def keep(self, call: Call) -> None:
        """See the port."""
        with calling("keeping who wrote a policy"):
            self._client.put_item(TableName=self._table, Item=item_of(call))

    def of(self, policy: str) -> Sequence[Call]:
        """See the port."""
        found = [call for name in (policy, ANY) for call in self._of(name)]
        return sorted(found, key=lambda call: (call.at, call.id, call.item))

    def _of(self, policy: str) -> Iterator[Call]:
        with calling("reading who wrote a policy"):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="#name = :name",
                ExpressionAttributeNames={"#name": "name"},
                ExpressionAttributeValues={":name": {"S": _partition(policy)}},
                ConsistentRead=True,
            )
            items = [untyped(item) for page in pages for item in page["Items"]]
        for item in items:
            call = _call_of(policy, item)
            if call:
                yield call


def _call_of(policy: str, item: Mapping[str, Any]) -> Call | None:
    """Return the call in *item*; None for one that somebody broke by hand: it tells of nobody."""
    try:
        way: Way = next(way for way in get_args(Way) if way == item["way"])
        at = parse_time(str(item["at"]))
        return Call(str(item["id"]), at, policy, str(item["item"]), str(item["by"]), str(item["action"]), way)
    except (KeyError, ValueError, StopIteration):
        return None
