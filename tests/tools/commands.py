"""Commands for tests: a node, a clock's beginning, a command that can be told from another."""

from datetime import UTC, datetime, timedelta
from typing import Any

from policies.contract.commands.command import Claim, Command, Result, new_command
from policies.contract.commands.operations import Operation, parse_params
from policies.contract.identifiers import stable_id

TABLE_ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/commands"
NODE = "arn:aws:ec2:us-east-1:123456789012:instance/i-0a"
OTHER_NODE = "arn:aws:ec2:us-east-1:123456789012:instance/i-0b"
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GPU = "0000:4b:00"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def command(
    operation: Operation = Operation.RESET_GPU,
    *,
    name: str = "one",
    node: str = NODE,
    issued: float = 0.0,
    params: dict[str, Any] | None = None,
) -> Command:
    wanted = {"gpus": [GPU]} if params is None and operation is Operation.RESET_GPU else params or {}
    parsed = parse_params(operation, wanted)
    return new_command(stable_id("command", name), node, operation, parsed, at(issued), incident="0a", fence=3)


def claim(seconds: float = 1.0, by: str = "spool-1", boot_id: str = "boot-1") -> Claim:
    return Claim(by=by, boot_id=boot_id, at=at(seconds))


def result(seconds: float = 5.0, reason: str = "") -> Result:
    return Result(at=at(seconds), reason=reason, output="all is well")
