"""Policies in DynamoDB: `live`, `head`, `rev#<8 digits>` and `answer` under each name, and one listing for all.

By the listing (`policy_listing.py`) readers see with one small consistent read whether anything changed, where a scan
would read every revision ever accepted. It must not judge policies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling
from functions.adapters.batch_get import batch_get
from functions.adapters.policy_calls import DynamoCalls
from functions.adapters.policy_conditions import conditionally, is_too_large
from functions.adapters.policy_items import (
    LISTING,
    REVISION_PREFIX,
    head_as_seen,
    head_item,
    head_of,
    key_of,
    readable,
    sort_of,
    typed,
    unchanged,
    untyped,
)
from functions.adapters.policy_listing import DynamoListing
from functions.adapters.self_shadows import DynamoSelfShadows
from functions.ports.policies import BrokenItemError, EditedMeanwhileError, Head, Heading, Seen
from policies.contract.errors import DependencyError
from policies.documents import fingerprint

if TYPE_CHECKING:
    from botocore.paginate import PageIterator
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import ScanOutputTypeDef

    from functions.adapters.policy_items import Item
    from functions.ports.calls import Call


class DynamoPolicies:
    """All sides: `PolicyHeads`, `PolicyStore` and `PolicyEditor`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use *table*."""
        self._client = client
        self._table = table
        self._listing = DynamoListing(client, table)

    @property
    def table(self) -> str:
        """The table's name."""
        return self._table

    def headings(self) -> Sequence[Heading]:
        """See the port."""
        return self._listing.headings()

    def names_of_heads(self) -> Sequence[str]:
        """See the port."""
        return self._listing.names_of_heads()

    def head(self, name: str) -> Head | None:
        """See the port."""
        item = None if name == LISTING else self._get(name, "head")
        return None if item is None else head_of(item)

    def heading(self, name: str) -> Heading | None:
        """See the port."""
        return self._listing.heading(name)

    def revision(self, name: str, number: int) -> Head | None:
        """See the port."""
        item = self._get(name, sort_of(number))
        return None if item is None else head_of(item)

    def revisions(self, name: str) -> Sequence[Head]:
        """See the port."""
        with calling(f"reading the revisions of policy {name}"):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="#name = :name AND begins_with(sk, :rev)",
                ExpressionAttributeNames={"#name": "name"},
                ExpressionAttributeValues={":name": {"S": name}, ":rev": {"S": REVISION_PREFIX}},
                ConsistentRead=True,
                ScanIndexForward=False,
            )
            items = [untyped(item) for page in pages for item in page["Items"]]
        return readable(items)

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        """See the port."""
        wanted = [(self._table, key_of(name, "head")) for name in names if name != LISTING]
        items = batch_get(self._client, wanted, "reading policies", ConsistentRead=True)
        return {head.name: head for head in readable(untyped(item) for _table, item in items)}

    def live(self, name: str) -> Mapping[str, Any] | None:
        """See the port."""
        return self._get(name, "live")

    def verdict(self, live: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """See the port."""
        mark, there = fingerprint(live), live.get("verdict")
        if isinstance(there, Mapping) and there.get("hash") == mark:
            return there
        beside = self.answer_beside(live["name"])
        return beside if isinstance(beside, Mapping) and beside.get("hash") == mark else None

    def answer_beside(self, name: str) -> Mapping[str, Any] | None:
        """Return the verdict that found no room on `live`, if there is one."""
        item = self._get(name, "answer")
        return None if item is None else item.get("verdict")

    def forget_answer(self, name: str) -> None:
        """See the port: not the one that another guard wrote meanwhile, on what stands there now."""
        there = self._get(name, "answer")
        if there is None:
            return
        verdict = there.get("verdict")
        same = "attribute_not_exists(#verdict)" if verdict is None else "#verdict = :verdict"
        values: Any = {} if verdict is None else {"ExpressionAttributeValues": typed({":verdict": verdict})}
        with suppress(EditedMeanwhileError), conditionally("removing an answer that is out of date"):
            self._client.delete_item(
                TableName=self._table,
                Key=key_of(name, "answer"),
                ConditionExpression=same,
                ExpressionAttributeNames={"#verdict": "verdict"},
                **values,
            )

    def lives(self, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """See the port."""
        wanted = [(self._table, key_of(name, "live")) for name in dict.fromkeys(names)]
        for _table, item in batch_get(self._client, wanted, "looking at all policies", ConsistentRead=True):
            yield untyped(item)

    def names_in(self, part: int, parts: int) -> Iterator[Sequence[str]]:
        """See the port: a scan, which reads every revision ever accepted on its way, and hands on none."""
        with calling("looking through all policies"):
            for page in self._scan(Segment=part, TotalSegments=parts):
                yield [item["name"]["S"] for item in page["Items"]]

    def names(self) -> Sequence[str]:
        """Return the names of all `live` items: a scan, for people."""
        with calling("listing policies"):
            return sorted(item["name"]["S"] for page in self._scan() for item in page["Items"])

    def _scan(self, **part: Any) -> PageIterator[ScanOutputTypeDef]:  # noqa: ANN401 - options of a call
        return self._client.get_paginator("scan").paginate(
            TableName=self._table,
            FilterExpression="sk = :live",
            ExpressionAttributeValues={":live": {"S": "live"}},
            ProjectionExpression="#name",
            ExpressionAttributeNames={"#name": "name"},
            **part,
        )

    def put_revision(self, head: Head) -> Head:
        """See the port."""
        try:
            self._put(head_item(head, sort_of(head.revision)), "attribute_not_exists(sk)")
        except EditedMeanwhileError:
            try:
                there = self.revision(head.name, head.revision)
            except BrokenItemError as broken:  # nobody can read it any more, so it keeps nothing
                self._put(head_item(head, sort_of(head.revision)), *head_as_seen(broken))
                return head
            if there is None or not there.is_same(head):
                raise
            return there
        return head

    def put_head(self, head: Head, *, after: int) -> None:
        """See the port."""
        if after == 0:
            self._put(head_item(head, "head"), "attribute_not_exists(sk)")
        else:
            self._put(head_item(head, "head"), "#revision = :after", {"#revision": "revision"}, {":after": after})

    def list_head(self, head: Head) -> None:
        """See the port."""
        self._listing.put(head)

    def list_anew(self) -> Sequence[Heading]:
        """See the port."""
        return self._listing.anew()

    def restore(self, head: Head, seen: Seen) -> None:
        """See the port: what was is written first, what readers see at last.

        The revision needs no condition: it is what it vouches for, and a new number is taken only after the head.
        """
        self._put(head_item(head, sort_of(head.revision)))
        self._put(head_item(head, "head"), *head_as_seen(seen.head))
        self._listing.put_back(head, seen.line)

    def answer(self, name: str, seen: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
        """See the port."""
        condition, names, values = unchanged(seen)
        try:
            self._update(
                key_of(name, "live"),
                "SET #verdict = :verdict",
                condition,
                {**names, "#verdict": "verdict"},
                {**values, ":verdict": verdict},
            )
        except DependencyError as error:
            if not is_too_large(error):
                raise
            self._put({"name": name, "sk": "answer", "verdict": dict(verdict)})
            return
        self.forget_answer(name)

    def calls_of(self, name: str) -> Sequence[Call]:
        """See the port."""
        return DynamoCalls(self._client, self._table).of(name)

    @property
    def self_shadows(self) -> DynamoSelfShadows:
        """Who put themselves in shadow, in the same table."""
        return DynamoSelfShadows(self._client, self._table)

    def put_live(self, item: Mapping[str, Any]) -> None:
        """Write a whole `live` item, as a person would: the last writer wins, and the guard judges."""
        self._put({**item, "sk": "live"})

    def replace_live(self, seen: Mapping[str, Any] | None, item: Mapping[str, Any]) -> None:
        """See the port."""
        condition, names, values = ("attribute_not_exists(sk)", {}, {}) if seen is None else unchanged(seen)
        try:
            self._put({**item, "sk": "live"}, condition, names, values)
        except EditedMeanwhileError:
            # An answer was lost, the client said it again, and what it met was what it had written itself.
            there = self.live(str(item["name"])) or {}
            if {**there, "sk": "", "verdict": ""} != {**untyped(typed(item)), "sk": "", "verdict": ""}:
                raise

    def _get(self, name: str, sort: str) -> dict[str, Any] | None:
        with calling(f"reading policy {name}"):
            answer = self._client.get_item(TableName=self._table, Key=key_of(name, sort), ConsistentRead=True)
        return untyped(answer["Item"]) if "Item" in answer else None

    def _put(
        self,
        item: Mapping[str, Any],
        condition: str = "",
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        more: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
        if names:
            more["ExpressionAttributeNames"] = names
        if values:
            more["ExpressionAttributeValues"] = typed(values)
        with conditionally(f"writing policy {item['name']}"):
            self._client.put_item(TableName=self._table, Item=typed(item), **more)

    def _update(
        self,
        key: Item,
        update: str,
        condition: str,
        names: Mapping[str, str],
        values: Mapping[str, Any],
    ) -> None:
        with conditionally("writing a policy"):
            self._client.update_item(
                TableName=self._table,
                Key=key,
                UpdateExpression=update,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=typed(values),
                ConditionExpression=condition,
            )
