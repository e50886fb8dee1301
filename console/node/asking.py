"""A person's command: its parameters from words, issued once, followed until it has ended or nobody waits any longer.

It must not print or ask the person.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_origin

from console.node.parts import NodeError, Parts
from policies.contract.commands.command import Command, CommandRecord, new_command
from policies.contract.commands.operations import PARAMS, Operation, Params, parse_params
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time

_LOOK_SECONDS = 1.0


def read_params(operation: Operation, words: Sequence[str]) -> Params:
    """Return the parameters in *words* (``gpus=0000:4b:00``, a name again is one more of a list); BadInputError."""
    fields = PARAMS[operation].model_fields
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise NodeError(f"--param {word!r} is not NAME=VALUE.", hint=f"Parameters: {', '.join(fields) or 'none'}.")
        is_list = name in fields and get_origin(fields[name].annotation) is tuple
        if name in values and not is_list:
            raise NodeError(f"--param {name} is given twice.", hint="Give it once.")
        values[name] = [*values.get(name, []), value] if is_list else value
    return parse_params(operation, values)


def draft(parts: Parts, node: str, operation: Operation, params: Params, by: str) -> Command:
    """Return the command to issue; NodeError when the node's agent would not do it."""
    now = parts.clock()
    taken = parts.commands.taken(node, now)
    if taken is None:
        raise NodeError(
            f"the agent of {node} takes no commands.",
            hint="Set commands_table on the node (docs/agent.md), and look whether the agent runs.",
        )
    if operation not in taken.operations:
        allowed = ", ".join(sorted(taken.operations)) or "none"
        raise NodeError(
            f"the agent of {node} does not take {operation}; it takes: {allowed}.",
            hint="Allow it on the node in commands_allowed, then restart the agent.",
        )
    name = stable_id("command", node, operation, json.dumps(params.model_dump(mode="json")), by, format_time(now))
    return new_command(name, node, operation, params, now, by=by)


def follow(parts: Parts, command: Command, seconds: float, progress: Callable[[CommandRecord], None]) -> CommandRecord:
    """Issue *command* and return how it stands once it has ended, or after *seconds*."""
    record = parts.commands.put(command)
    until = parts.clock().timestamp() + seconds
    while record.status.is_open:
        progress(record)
        if parts.clock().timestamp() >= until:
            break
        parts.pause(_LOOK_SECONDS)
        record = parts.commands.expire(parts.commands.get(command.node, command.id) or record, parts.clock())
    return record


def told(record: CommandRecord) -> Mapping[str, Any]:
    """Return *record* as JSON for machines."""
    document: dict[str, Any] = {**record.command.model_dump(mode="json"), "status": str(record.status)}
    if record.claim:
        document["begun"] = record.claim.model_dump(mode="json")
    if record.result:
        document["result"] = record.result.model_dump(mode="json")
    return document
