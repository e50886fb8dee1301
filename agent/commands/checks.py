"""What works here of the commands to this node, and what to do about what does not. Nothing is carried out."""

import os
import shutil
from collections.abc import Iterator, Mapping

from agent.check_result import CheckResult
from agent.commands.dynamo import DynamoNodeTable
from agent.identity import InstanceMetadata, identify
from agent.settings import Settings
from policies.contract.commands.items import instance_arns, table_of
from policies.contract.commands.operations import Operation
from policies.contract.errors import RelightError

_PROGRAMS: Mapping[Operation, str] = {
    Operation.RESET_GPU: "nvidia-smi",
    Operation.RESTART_SERVICE: "systemctl",
    Operation.BURN_IN: "dcgmi",
}
_NEED_ROOT = frozenset({*_PROGRAMS, Operation.RESTART_PROCESS})


def checks(settings: Settings) -> Iterator[CheckResult]:
    """Look at the table once, as this process, and for what the allowed operations need."""
    if not settings.commands_table:
        found = "no table set: nothing can be asked of this node"
        yield CheckResult("commands", ok=True, found=found, is_here=False)
        return
    try:
        waiting = len(_table(settings).look().records)
    except RelightError as error:
        yield CheckResult("commands", ok=False, found=error.message, hint=error.hint)
        return
    allowed = ", ".join(settings.commands_allowed) or "none"
    yield CheckResult("commands", ok=True, found=f"the table is reached, {waiting} are open; allowed: {allowed}")
    for operation in settings.commands_allowed:
        missing = _missing(operation)
        if missing:
            hint = "Install it, run the agent as root, or take the operation out of commands_allowed."
            yield CheckResult(f"command {operation}", ok=False, found=missing, hint=hint)


def _table(settings: Settings) -> DynamoNodeTable:
    node = identify(settings, InstanceMetadata(settings.metadata_endpoint))
    name, region = table_of(settings.commands_table)
    return DynamoNodeTable(name, region, instance_arns(settings.commands_table) + node.instance_id)


def _missing(operation: Operation) -> str:
    program = _PROGRAMS.get(operation)
    if program and shutil.which(program) is None:
        return f"there is no {program} here"
    return "it needs root" if operation in _NEED_ROOT and os.geteuid() else ""
