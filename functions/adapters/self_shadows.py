"""Policies that put themselves in shadow, as items of the policies table: ``#shadow#<policy>``, sort key ``shadow``.

Coordinate writes them, a person lifts them; no edit of a policy touches them. It must not decide who goes into shadow.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from pydantic import ValidationError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.adapters.policy_items import key_of, typed, untyped
from policies.coordination.snapshot import ConflictError
from policies.coordination.switches import SelfShadow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from types_boto3_dynamodb import DynamoDBClient

    from functions.adapters.policy_items import Item

PREFIX, SORT = "#shadow#", "shadow"


def shadow_key(policy: str) -> Item:
    """Return where the self-shadow of *policy* lies."""
    return key_of(f"{PREFIX}{policy}", SORT)


def shadow_of(item: Mapping[str, Any]) -> SelfShadow:
    """Return the self-shadow in *item*; one that somebody broke by hand is one."""
    try:
        return SelfShadow.model_validate(item)
    except ValidationError:
        policy, began = str(item["name"]).removeprefix(PREFIX), datetime.fromtimestamp(0, UTC)
        why = "its item cannot be read; set-mode writes it anew"
        return SelfShadow(policy=policy, cluster="", incident="", since=began, why=why, version=_version(item))


def _version(item: Mapping[str, Any]) -> int:
    try:
        return int(item["version"])
    except (KeyError, ValueError, TypeError):
        return 0


class DynamoSelfShadows:
    """Writes and reads them, each write on top of the version before."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use *table*."""
        self._client = client
        self._table = table

    def put(self, shadow: SelfShadow) -> None:
        """Write *shadow* on top of its version before; ConflictError when that is not the one there."""
        item = typed(
            {"name": f"{PREFIX}{shadow.policy}", "sk": SORT, **shadow.model_dump(mode="json", exclude_none=True)}
        )
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(sk)"}
        if shadow.version > 1:
            condition = {
                "ConditionExpression": "#version = :before",
                "ExpressionAttributeNames": {"#version": "version"},
                "ExpressionAttributeValues": {":before": {"N": str(shadow.version - 1)}},
            }
        with calling(f"putting {shadow.policy} in shadow"):
            try:
                self._client.put_item(TableName=self._table, Item=item, **condition)
            except ClientError as error:
                if error_code(error) != CONDITION_FAILED:
                    raise
                raise ConflictError(f"the shadow of {shadow.policy} changed meanwhile.", hint="Read again.") from None

    def find(self, policy: str) -> SelfShadow | None:
        """Return the self-shadow of *policy*, a lifted one too; None when it never was in one."""
        with calling(f"reading the shadow of {policy}"):
            answer = self._client.get_item(TableName=self._table, Key=shadow_key(policy), ConsistentRead=True)
        return shadow_of(untyped(answer["Item"])) if "Item" in answer else None

    def all(self) -> Mapping[str, SelfShadow]:
        """Return those that are on, by policy: a scan, for people."""
        with calling("listing policies in shadow"):
            pages = self._client.get_paginator("scan").paginate(
                TableName=self._table,
                FilterExpression="sk = :shadow",
                ExpressionAttributeValues={":shadow": {"S": SORT}},
            )
            found = [shadow_of(untyped(item)) for page in pages for item in page["Items"]]
        return {each.policy: each for each in found if each.lifted_at is None}

    def lift(self, policy: str, by: str, now: datetime, reason: str = "") -> SelfShadow | None:
        """End the self-shadow of *policy*; return it as it was, None when it was in none."""
        shadow = self.find(policy)
        if shadow is None or shadow.lifted_at is not None:
            return None
        self.put(
            shadow.model_copy(
                update={"lifted_at": now, "lifted_by": by, "lifted_why": reason, "version": shadow.version + 1}
            )
        )
        return shadow
