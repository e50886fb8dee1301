"""Asks a node for operations and waits for its word: the part that all acts on nodes share.

The command is put if it is absent, under an id made of incident, rung and the rung's first intention: retries, further
attempts and a lost answer find it there. Each wait ends: a command that nobody begins expires, one that was begun has
its own deadline. It must not know which operation belongs to which rung.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from functions.acts.act import ActContext
from functions.acts.support import Pace
from functions.ports.commands import Commands
from policies.contract.commands.command import CommandRecord, CommandStatus, new_command
from policies.contract.commands.operations import CLAIM_SECONDS, Operation, Params
from policies.contract.decisions import RungReport
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time

# A command is on its way for as long as its agent looks seldom; on the embedded AWS both are shorter.
_LEAST_CLAIM_SECONDS = 20.0
_LATE = timedelta(seconds=60)  # after its own deadline an agent that lives says how it ended
_EC2_INSTANCE = "i-"
_LONGEST_WORD = 300


@dataclass(frozen=True)
class Wish:
    """One operation with its parameters."""

    operation: Operation
    params: Params


class Asking:
    """Issues commands for a context and reads how they stand."""

    def __init__(self, *, commands: Commands, instance_arns: str, pace: Pace) -> None:
        """*instance_arns* is what the ARN of every instance begins with."""
        self._commands = commands
        self._instance_arns = instance_arns
        self._pace = pace

    @property
    def scale(self) -> float:
        """How many real seconds one second of a policy's wait lasts."""
        return self._pace.scale

    def advance(self, context: ActContext, wishes: Sequence[Wish], **facts: object) -> RungReport:
        """Report how far all *wishes* are; *facts* become the outcome once they are done."""
        stands = self.issue(context, wishes)
        if isinstance(stands, str):
            return context.failed(stands)
        failed = [why for record in stands if (why := self.why_failed(context, record))]
        if failed:
            return context.failed("; ".join(failed))
        waiting = [record for record in stands if record.status.is_open]
        if waiting:
            return self._pace.wait(context, _what_is_awaited(waiting), commands=[one.command.id for one in stands])
        return context.done(**facts, commands=[one.command.id for one in stands])

    def issue(self, context: ActContext, wishes: Sequence[Wish]) -> list[CommandRecord] | str:
        """Return how the commands for *wishes* stand, issued by now; or why none is."""
        if not context.node.instance_id.startswith(_EC2_INSTANCE):
            return f"{context.node.instance_id} is no instance whose agent could be asked"
        node = self._instance_arns + context.node.instance_id
        issued = [self._commands.get(node, command_id(context, number)) for number in range(len(wishes))]
        if not any(issued):
            nobody = self._why_nobody(context, node, wishes)
            if nobody:
                return nobody
        return [
            self._commands.expire(known or self._put(context, node, number, wish), context.now)
            for number, (known, wish) in enumerate(zip(issued, wishes, strict=True))
        ]

    def why_failed(self, context: ActContext, record: CommandRecord) -> str:
        """Return why *record* has not worked and will not; empty while it may, or has."""
        operation, result = record.command.operation, record.result
        if record.status is CommandStatus.RUNNING and context.now > record.overdue_at + _LATE:
            return f"{operation}: begun at {_begun(record)}, and nothing was heard since"
        if record.status.is_open or record.status is CommandStatus.DONE:
            return ""
        if record.status is CommandStatus.EXPIRED:
            return f"{operation}: the node's agent did not begin it by {format_time(record.command.expires_at)}"
        return f"{operation} {record.status}: {result.reason[:_LONGEST_WORD] if result else 'no reason given'}"

    def _why_nobody(self, context: ActContext, node: str, wishes: Sequence[Wish]) -> str:
        """Return why nobody on *node* would do it; known beforehand, nobody is waited for."""
        taken = self._commands.taken(node, context.now)
        if taken is None:
            return "the node's agent takes no commands (its setting commands_table)"
        missing = sorted({wish.operation for wish in wishes} - set(taken.operations))
        return f"the node's agent does not take {', '.join(missing)} (its setting commands_allowed)" if missing else ""

    def _put(self, context: ActContext, node: str, number: int, wish: Wish) -> CommandRecord:
        seconds = max(_LEAST_CLAIM_SECONDS, CLAIM_SECONDS * self._pace.scale)
        command = new_command(
            command_id(context, number),
            node,
            wish.operation,
            wish.params,
            context.now,
            claim_seconds=seconds,
            incident=context.incident,
            fence=context.fence,
            by="relight",
        )
        return self._commands.put(command)


def command_id(context: ActContext, number: int) -> str:
    """Return the id of the rung's command of this number; another turn of the rung has others."""
    return stable_id("command", context.incident, context.rung, format_time(context.intended_at), number)


def _what_is_awaited(records: Sequence[CommandRecord]) -> str:
    told = (f"{one.command.operation} is {one.status}" for one in records)
    return f"the node: {', '.join(dict.fromkeys(told))}"


def _begun(record: CommandRecord) -> str:
    return format_time(record.claim.at) if record.claim else "an unknown time"
