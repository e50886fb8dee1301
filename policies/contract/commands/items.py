"""A command as an item of the table `commands`, in DynamoDB's own form: who writes and who reads agree here.

``NODE#<instance ARN>`` / ``CMD#<id>``; beside them ``AGENT``, what the node's agent takes. The partition holds the ARN
since that is what IAM can compare a caller with (``${ec2:SourceInstanceARN}``). It must not call anything.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from policies.contract.commands.command import CommandRecord
from policies.contract.commands.operations import Taken
from policies.contract.errors import SettingsError

Item = dict[str, Any]  # name -> {"S": ...}, as boto3's low-level client has it
COMMAND = "CMD#"
AGENT = "AGENT"
KEPT = timedelta(days=7)
TAKEN_KEPT = timedelta(days=2)  # an agent says it anew twice a day
_TABLE_ARN = re.compile(r"arn:(?P<partition>aws[a-z-]*):dynamodb:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):table/(.+)")


def instance_arns(table_arn: str) -> str:
    """Return what the ARN of every instance begins with that lives where *table_arn* does; SettingsError if no ARN."""
    found = _parsed(table_arn)
    return f"arn:{found['partition']}:ec2:{found['region']}:{found['account']}:instance/"


def table_of(table_arn: str) -> tuple[str, str]:
    """Return (name, region) of the table *table_arn*; SettingsError if it is no ARN of a table."""
    found = _parsed(table_arn)
    return found[4], found["region"]


def _parsed(table_arn: str) -> re.Match[str]:
    found = _TABLE_ARN.fullmatch(table_arn)
    if found is None:
        raise SettingsError(
            f"{table_arn!r} is no ARN of a table.", hint="Take the stack's output CommandsTableArn as it is."
        )
    return found


def key_of(node: str, command_id: str) -> Item:
    """Return the key of one command."""
    return {"pk": {"S": f"NODE#{node}"}, "sk": {"S": f"{COMMAND}{command_id}"}}


def agent_key(node: str) -> Item:
    """Return the key of what the node's agent takes."""
    return {"pk": {"S": f"NODE#{node}"}, "sk": {"S": AGENT}}


def to_item(record: CommandRecord) -> Item:
    """Return the whole item."""
    parts = {"command": record.command, "claim": record.claim, "result": record.result}
    told = {name: {"S": part.model_dump_json(exclude_none=True)} for name, part in parts.items() if part}
    return {
        **key_of(record.command.node, record.command.id),
        **told,
        "status": {"S": str(record.status)},
        "expires_at": number(record.command.expires_at),
        "expires": {"N": str(int((record.command.issued_at + KEPT).timestamp()))},
    }


def from_item(item: Mapping[str, Any]) -> CommandRecord:
    """Return the record in *item*; pydantic's ValidationError when it is none."""
    parts = [f'"{name}": {item[name]["S"]}' for name in ("command", "claim", "result") if name in item]
    return CommandRecord.model_validate_json(f'{{"status": "{item["status"]["S"]}", {", ".join(parts)}}}')


def taken_item(node: str, taken: Taken) -> Item:
    """Return the item that says what the agent of *node* takes."""
    expires = str(int((taken.at + TAKEN_KEPT).timestamp()))
    return {**agent_key(node), "taken": {"S": taken.to_json()}, "expires": {"N": expires}}


def taken_from(item: Mapping[str, Any], now: datetime) -> Taken | None:
    """Return what the agent takes; None when it did not say so for two days (TTL deletes late)."""
    taken = Taken.model_validate_json(item["taken"]["S"])
    return taken if taken.at + TAKEN_KEPT > now else None


def number(moment: datetime) -> dict[str, str]:
    """Return *moment* as a number that DynamoDB can compare: seconds since 1970."""
    return {"N": f"{moment.timestamp():.6f}"}
