"""Commands to nodes on DynamoDB, as the pipeline issues and follows them.

It must not decide when (`functions/nodes/` does). The node's side of the same items is `agent/commands/dynamo.py`.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from pydantic import ValidationError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from policies.contract.commands import items
from policies.contract.commands.command import Command, CommandRecord, CommandStatus, expire
from policies.contract.commands.operations import Taken
from policies.contract.envelope import explain
from policies.contract.errors import BadInputError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoDBCommands:
    """See `functions/ports/commands.py`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = table

    def put(self, command: Command) -> CommandRecord:
        """See the port."""
        record = CommandRecord(command=command)
        try:
            with calling("issuing a command"):
                self._put(record)
        except _StandsError:
            return self.get(command.node, command.id) or record
        return record

    def _put(self, record: CommandRecord) -> None:
        try:
            self._client.put_item(
                TableName=self._table,
                Item=items.to_item(record),
                ConditionExpression="attribute_not_exists(pk)",
            )
        except ClientError as error:
            if error_code(error) != CONDITION_FAILED:
                raise
            raise _StandsError from None

    def get(self, node: str, command_id: str) -> CommandRecord | None:
        """See the port."""
        with calling("reading a command"):
            answer = self._client.get_item(
                TableName=self._table, Key=items.key_of(node, command_id), ConsistentRead=True
            )
        if "Item" not in answer:
            return None
        try:
            return items.from_item(answer["Item"])
        except (ValidationError, KeyError) as error:
            told = explain(error) if isinstance(error, ValidationError) else f"{error} is missing"
            raise BadInputError(
                f"command {command_id} cannot be read: {told}.", hint="Somebody wrote to the table of commands by hand."
            ) from None

    def expire(self, record: CommandRecord, now: datetime) -> CommandRecord:
        """See the port."""
        expired = expire(record, now)
        if expired == record:
            return record
        try:
            with calling("giving a command up"):
                self._set_expired(record)
        except _StandsError:
            return self.get(record.command.node, record.command.id) or expired
        return expired

    def _set_expired(self, record: CommandRecord) -> None:
        try:
            self._client.update_item(
                TableName=self._table,
                Key=items.key_of(record.command.node, record.command.id),
                UpdateExpression="SET #status = :expired",
                ConditionExpression="#status = :pending",
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues={
                    ":expired": {"S": str(CommandStatus.EXPIRED)},
                    ":pending": {"S": str(CommandStatus.PENDING)},
                },
            )
        except ClientError as error:
            if error_code(error) != CONDITION_FAILED:
                raise
            raise _StandsError from None

    def taken(self, node: str, now: datetime) -> Taken | None:
        """See the port."""
        with calling("reading what an agent takes"):
            answer = self._client.get_item(TableName=self._table, Key=items.agent_key(node), ConsistentRead=True)
        return items.taken_from(answer["Item"], now) if "Item" in answer else None


class _StandsError(Exception):
    """The condition of a write did not hold."""
