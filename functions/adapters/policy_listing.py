"""The listing of policies in DynamoDB (``HEADS``/``head``): which revision of each is in force, an attribute a policy.

It stands whole or not at all: who finds none asks the heads themselves, and would miss nothing in half of one. So a
line is put only into one that is there, and where there is none it is made of all heads in one write. It must not judge
policies or write heads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling
from functions.adapters.policy_conditions import conditionally
from functions.adapters.policy_items import (
    LISTING,
    LISTING_PREFIX,
    heading_of,
    headings_of,
    key_of,
    line_as_seen,
    line_of,
    typed,
    untyped,
)
from functions.ports.policies import BrokenItemError, EditedMeanwhileError, Head, Heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from types_boto3_dynamodb import DynamoDBClient

_KEY = key_of(LISTING, "head")
_IN_FORCE = {"#name": "name", "#revision": "revision", "#hash": "hash", "#mode": "mode"}


class DynamoListing:
    """See the ports of `functions/ports/policies.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use *table*."""
        self._client = client
        self._table = table

    def headings(self) -> Sequence[Heading]:
        """See the port."""
        return headings_of(self._get() or {})

    def heading(self, name: str) -> Heading | None:
        """See the port."""
        line = f"{LISTING_PREFIX}{name}"
        found = self._get(ProjectionExpression="#line", ExpressionAttributeNames={"#line": line}) or {}
        return heading_of(name, found[line]) if line in found else None

    def names_of_heads(self) -> Sequence[str]:
        """See the port: a scan, past every revision ever kept."""
        return [str(item["name"]) for item in self._heads({"#name": "name"})]

    def put(self, head: Head) -> None:
        """Put the line of *head* unless a later revision is there; where there is no listing, make it anew."""
        later = "attribute_not_exists(#policy) OR #policy.#revision <= :revision"
        try:
            self._put(head, later, {"#revision": "revision"}, {":revision": head.revision})
        except EditedMeanwhileError:
            return  # a later revision is listed: it stands

    def put_back(self, head: Head, seen: Heading | BrokenItemError | None) -> None:
        """Put the line of *head* in the place of what was *seen* there; else EditedMeanwhileError."""
        self._put(head, *line_as_seen(seen))

    def _put(self, head: Head, condition: str, names: Mapping[str, str], values: Mapping[str, Any]) -> None:
        whole = f"attribute_exists(sk) AND ({condition})"
        try:
            self._update(head, whole, names, values)
        except EditedMeanwhileError:
            # Another guard may have made it meanwhile, before this head was there: only now the refusal says which.
            is_there = self._get(ProjectionExpression="sk") is not None
            if is_there or head.heading not in self.anew(head):
                self._update(head, whole, names, values)

    def anew(self, *own: Head) -> Sequence[Heading]:
        """See `PolicyStore.list_anew`; one's *own* are listed though nobody put them in force.

        A head that somebody broke by hand gets a line that says nothing: there is a head to ask, and the guard mends.
        """
        lines: dict[str, Any] = {f"{LISTING_PREFIX}{head.name}": line_of(head) for head in own}
        for item in self._heads(_IN_FORCE):
            line: dict[str, Any] = {key: item[key] for key in ("revision", "hash", "mode") if key in item}
            lines[f"{LISTING_PREFIX}{item['name']}"] = line if _is_readable(item, line) else {}
        if not lines:
            return []
        try:
            with conditionally("writing the listing of policies"):
                self._client.put_item(
                    TableName=self._table,
                    Item={**typed(lines), **_KEY},
                    ConditionExpression="attribute_not_exists(sk)",
                )
        except EditedMeanwhileError:
            return self.headings()
        return headings_of(lines)

    def _heads(self, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        with calling("looking for all policies in force"):
            pages = self._client.get_paginator("scan").paginate(
                TableName=self._table,
                FilterExpression="sk = :head",
                ExpressionAttributeValues={":head": {"S": "head"}},
                ProjectionExpression=", ".join(names),
                ExpressionAttributeNames=dict(names),
                ConsistentRead=True,
            )
            for page in pages:
                found = [untyped(item) for item in page["Items"]]
                yield from (item for item in found if item["name"] != LISTING)

    def _get(self, **part: Any) -> dict[str, Any] | None:  # noqa: ANN401 - options of a call
        with calling("reading the listing of policies"):
            answer = self._client.get_item(TableName=self._table, Key=_KEY, ConsistentRead=True, **part)
        return untyped(answer["Item"]) if "Item" in answer else None

    def _update(self, head: Head, condition: str, names: Mapping[str, str], values: Mapping[str, Any]) -> None:
        with conditionally("writing the listing of policies"):
            self._client.update_item(
                TableName=self._table,
                Key=_KEY,
                UpdateExpression="SET #policy = :entry",
                ExpressionAttributeNames={"#policy": f"{LISTING_PREFIX}{head.name}", **names},
                ExpressionAttributeValues=typed({":entry": line_of(head), **values}),
                ConditionExpression=condition,
            )


def _is_readable(item: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    try:
        heading_of(str(item["name"]), line)
    except BrokenItemError:
        return False
    return True
