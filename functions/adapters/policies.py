"""Policies in DynamoDB: `live`, `head`, `rev#<8 digits>` and `answer` under each name, and one listing for all.

The listing (``HEADS``/``head``) has one attribute a policy (``p:<name>``): readers see with one small consistent read
whether anything changed, where a scan would read every revision ever accepted. It must not judge policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.adapters.batch_get import batch_get
from functions.adapters.policy_items import (
    LISTING,
    LISTING_PREFIX,
    head_item,
    head_of,
    headings_of,
    key_of,
    typed,
    unchanged,
    untyped,
)
from functions.adapters.self_shadows import DynamoSelfShadows
from functions.ports.policies import EditedMeanwhileError, Head, Heading
from policies.contract.errors import DependencyError
from policies.contract.times import format_time
from policies.documents import fingerprint

if TYPE_CHECKING:
    from datetime import datetime

    from types_boto3_dynamodb import DynamoDBClient

    from functions.adapters.policy_items import Item


class DynamoPolicies:
    """Both sides: `PolicyHeads` and `PolicyStore`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use *table*."""
        self._client = client
        self._table = table

    def headings(self) -> Sequence[Heading]:
        """See the port."""
        return headings_of(self._get(LISTING, "head") or {})

    def head(self, name: str) -> Head | None:
        """See the port."""
        item = None if name == LISTING else self._get(name, "head")
        return None if item is None else head_of(item)

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        """See the port."""
        wanted = [(self._table, key_of(name, "head")) for name in names if name != LISTING]
        items = batch_get(self._client, wanted, "reading policies", ConsistentRead=True)
        return {head.name: head for head in (head_of(untyped(item)) for _table, item in items)}

    def live(self, name: str) -> Mapping[str, Any] | None:
        """See the port."""
        return self._get(name, "live")

    def answer_beside(self, name: str) -> Mapping[str, Any] | None:
        """Return the verdict that found no room on `live`, if there is one."""
        item = self._get(name, "answer")
        return None if item is None else item["verdict"]

    def names(self) -> Sequence[str]:
        """Return the names of all `live` items: a scan, for people."""
        with calling("listing policies"):
            pages = self._client.get_paginator("scan").paginate(
                TableName=self._table,
                FilterExpression="sk = :live",
                ExpressionAttributeValues={":live": {"S": "live"}},
                ProjectionExpression="#name",
                ExpressionAttributeNames={"#name": "name"},
            )
            return sorted(item["name"]["S"] for page in pages for item in page["Items"])

    def put_revision(self, head: Head) -> None:
        """See the port."""
        sort = f"rev#{head.revision:08d}"
        try:
            self._put(head_item(head, sort), "attribute_not_exists(sk)")
        except EditedMeanwhileError:
            there = self._get(head.name, sort)
            if there is None or head_of(there) != head:
                raise

    def put_head(self, head: Head, *, after: int) -> None:
        """See the port."""
        if after == 0:
            self._put(head_item(head, "head"), "attribute_not_exists(sk)")
        else:
            self._put(head_item(head, "head"), "#revision = :after", {"#revision": "revision"}, {":after": after})

    def list_head(self, head: Head) -> None:
        """See the port."""
        entry = {"revision": head.revision, "hash": head.hash, "mode": head.mode.value}
        try:
            self._update(
                key_of(LISTING, "head"),
                "SET #policy = :entry",
                "attribute_not_exists(#policy) OR #policy.#revision <= :revision",
                {"#policy": f"{LISTING_PREFIX}{head.name}", "#revision": "revision"},
                {":entry": entry, ":revision": head.revision},
            )
        except EditedMeanwhileError:
            return  # a later revision is listed: it stands

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
            if not _is_too_large(error):
                raise
            self._put({"name": name, "sk": "answer", "verdict": dict(verdict)})
            return
        with calling("removing an answer that is out of date"):
            self._client.delete_item(TableName=self._table, Key=key_of(name, "answer"))

    def edit(self, name: str, seen: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        """Set *fields* on `live` if the operator's are still those of *seen*; else EditedMeanwhileError."""
        condition, names, values = unchanged(seen)
        self._update(
            key_of(name, "live"),
            f"SET {', '.join(f'#e_{each} = :e_{each}' for each in fields)}",
            condition,
            {**names, **{f"#e_{each}": each for each in fields}},
            {**values, **{f":e_{each}": value for each, value in fields.items()}},
        )

    @property
    def self_shadows(self) -> DynamoSelfShadows:
        """Who put themselves in shadow, in the same table."""
        return DynamoSelfShadows(self._client, self._table)

    def put_live(self, item: Mapping[str, Any]) -> None:
        """Write a whole `live` item, as a person would: the last writer wins, and the guard judges."""
        self._put({**item, "sk": "live"})

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
        if names and values:
            more |= {"ExpressionAttributeNames": names, "ExpressionAttributeValues": typed(values)}
        with _conditionally(f"writing policy {item['name']}"):
            self._client.put_item(TableName=self._table, Item=typed(item), **more)

    def _update(
        self,
        key: Item,
        update: str,
        condition: str,
        names: Mapping[str, str],
        values: Mapping[str, Any],
    ) -> None:
        with _conditionally("writing a policy"):
            self._client.update_item(
                TableName=self._table,
                Key=key,
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=typed(values),
            )


@contextmanager
def _conditionally(what: str) -> Iterator[None]:
    try:
        with calling(what):
            yield
    except DependencyError as error:
        if _code(error) == CONDITION_FAILED:
            raise EditedMeanwhileError(f"{what}: somebody wrote it meanwhile.", hint="It is read again.") from error
        raise


def _code(error: DependencyError) -> str:
    return error_code(error.__cause__) if isinstance(error.__cause__, ClientError) else ""


def _is_too_large(error: DependencyError) -> bool:
    return _code(error) == "ValidationException" and "tem size" in str(error)


def push(
    policies: DynamoPolicies, documents: Iterable[Mapping[str, Any]], *, edited_by: str, now: datetime
) -> Sequence[str]:
    """Write *documents* (policies as their YAML reads) as `live` items; return the names of those that changed.

    What stands there already, field by field, is left alone, so that pushing twice is no second edit.
    """
    changed = []
    for document in documents:
        name = str(document["name"])
        there = policies.live(name)
        if there is None or fingerprint(there) != fingerprint(document):
            policies.put_live({**document, "edited_by": edited_by, "edited_at": format_time(now)})
            changed.append(name)
    return changed
