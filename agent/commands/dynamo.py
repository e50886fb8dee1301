"""This node's commands on DynamoDB: one query to look, one conditional update a step.

The SDK is loaded at the first look, on this source's own thread. Reads are eventually consistent: they cost half, and
what is seen a moment late is claimed by a condition anyway. It must not decide what to do with a command.
"""

from __future__ import annotations

import logging
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agent.sdk import error_code, explain_refusal, make_client
from policies.contract.commands import items
from policies.contract.commands.command import CommandStatus, Look

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from types_boto3_dynamodb import DynamoDBClient

    from policies.contract.commands.command import Claim, CommandRecord, Result
    from policies.contract.commands.operations import Taken

log = logging.getLogger(__name__)
_CONDITION_FAILED = "ConditionalCheckFailedException"
_CONNECT_SECONDS, _READ_SECONDS = 1.0, 3.0
_POOL = 4  # threads that end a command at the same time


class DynamoNodeTable:
    """See `agent/commands/table.py`."""

    def __init__(self, table: str, region: str, node: str) -> None:
        """Use *table* for the commands to *node*, an instance's ARN."""
        self._table, self._region, self._node = table, region, node

    @cached_property
    def _client(self) -> DynamoDBClient:
        client: DynamoDBClient = make_client(
            "dynamodb", self._region, connect=_CONNECT_SECONDS, read=_READ_SECONDS, at_once=_POOL
        )
        return client

    def look(self) -> Look:
        """See the port."""
        try:
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :node AND begins_with(sk, :command)",
                FilterExpression="#status IN (:pending, :running)",
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues={
                    ":node": {"S": f"NODE#{self._node}"},
                    ":command": {"S": items.COMMAND},
                    ":pending": {"S": str(CommandStatus.PENDING)},
                    ":running": {"S": str(CommandStatus.RUNNING)},
                },
            )
        except Exception as error:
            raise explain_refusal("DynamoDB", error) from error
        return Look(list(_read(answer["Items"])), _server_time(answer))

    def begin(self, record: CommandRecord, claim: Claim) -> bool:
        """See the port."""
        return self._step(
            record,
            "SET #status = :running, claim = :claim",
            "(#status = :pending AND expires_at > :now) OR (#status = :running AND claim = :claim)",
            {
                ":pending": {"S": str(CommandStatus.PENDING)},
                ":running": {"S": str(CommandStatus.RUNNING)},
                ":claim": {"S": claim.model_dump_json(exclude_none=True)},
                ":now": items.number(claim.at),
            },
        )

    def end(self, record: CommandRecord, claim: Claim, status: CommandStatus, result: Result) -> bool:
        """See the port."""
        return self._step(
            record,
            "SET #status = :status, #result = :result",
            "claim = :claim AND (#status = :running OR (#status = :status AND #result = :result))",
            {
                ":running": {"S": str(CommandStatus.RUNNING)},
                ":status": {"S": str(status)},
                ":claim": {"S": claim.model_dump_json(exclude_none=True)},
                ":result": {"S": result.model_dump_json(exclude_none=True)},
            },
            result=True,
        )

    def turn_down(self, record: CommandRecord, result: Result) -> bool:
        """See the port."""
        return self._step(
            record,
            "SET #status = :refused, #result = :result",
            "#status = :pending OR (#status = :refused AND #result = :result)",
            {
                ":pending": {"S": str(CommandStatus.PENDING)},
                ":refused": {"S": str(CommandStatus.REFUSED)},
                ":result": {"S": result.model_dump_json(exclude_none=True)},
            },
            result=True,
        )

    def announce(self, taken: Taken) -> None:
        """See the port."""
        said = items.taken_item(self._node, taken)
        try:
            self._client.update_item(
                TableName=self._table,
                Key=items.agent_key(self._node),
                UpdateExpression="SET taken = :taken, expires = :expires",
                ExpressionAttributeValues={":taken": said["taken"], ":expires": said["expires"]},
            )
        except Exception as error:
            raise explain_refusal("DynamoDB", error) from error

    def _step(
        self, record: CommandRecord, update: str, condition: str, values: Mapping[str, Any], *, result: bool = False
    ) -> bool:
        """Write one step; True when it holds. Each condition asks for a status, so that no item is made of nothing."""
        try:
            self._client.update_item(
                TableName=self._table,
                Key=items.key_of(record.command.node, record.command.id),
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames={"#status": "status", **({"#result": "result"} if result else {})},
                ExpressionAttributeValues=values,
            )
        except Exception as error:
            if error_code(error) == _CONDITION_FAILED:
                return False
            raise explain_refusal("DynamoDB", error) from error
        return True


def _read(found: list[dict[str, Any]]) -> Iterator[CommandRecord]:
    """Yield the commands that can be read; one of a newer pipeline, or written by hand, is left alone and expires."""
    for item in found:
        try:
            yield items.from_item(item)
        except (ValidationError, KeyError) as error:
            log.warning("a command cannot be read", extra={"item": str(item.get("sk"))[:60], "error": str(error)[:300]})


def _server_time(answer: Mapping[str, Any]) -> datetime | None:
    """Return the time in the answer's Date header: the node's own clock may be hours off."""
    try:
        return parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    except (KeyError, ValueError, TypeError):
        return None
