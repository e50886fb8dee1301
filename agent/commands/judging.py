"""What to do about a command that is open: begin it, refuse it, look what became of it, or leave it. Pure.

It must not know operations beyond their names, nor write anything.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from policies.contract.commands.command import CommandRecord, CommandStatus
from policies.contract.commands.operations import Operation

# Another agent on this node began it and has not ended it so long after it should have: it is gone.
GIVEN_UP = timedelta(seconds=60)


class Verdict(Enum):
    """What is to be done."""

    LEAVE = auto()
    BEGIN = auto()
    REFUSE = auto()
    LOOK_BACK = auto()


@dataclass(frozen=True, slots=True)
class Self:
    """This agent: ``spool_id`` stays while its spool does, over restarts of the process."""

    spool_id: str
    boot_id: str
    takes: frozenset[Operation]


def judge(record: CommandRecord, me: Self, in_hand: Collection[str], now: datetime) -> tuple[Verdict, str]:
    """Return what to do and why, at *now* of the server's clock; *in_hand* are the ids that this process works on."""
    if record.command.id in in_hand:
        return Verdict.LEAVE, "it is being done"
    if record.status is CommandStatus.RUNNING:
        return _of_a_running_one(record, me, now)
    if record.status is not CommandStatus.PENDING:
        return Verdict.LEAVE, "it has ended"
    if now >= record.command.expires_at:
        return Verdict.LEAVE, "it has expired"
    if record.command.operation not in me.takes:
        allowed = ", ".join(sorted(me.takes)) or "none"
        return Verdict.REFUSE, f"{record.command.operation} is not allowed on this node (commands_allowed: {allowed})"
    return Verdict.BEGIN, ""


def _of_a_running_one(record: CommandRecord, me: Self, now: datetime) -> tuple[Verdict, str]:
    claim = record.claim
    if claim is None:
        return Verdict.LEAVE, "nobody has begun it"
    if claim.boot_id != me.boot_id:
        return Verdict.LOOK_BACK, "the node was started anew in the middle of it"
    if claim.by == me.spool_id:
        return Verdict.LOOK_BACK, "the agent ended in the middle of it"
    if now >= record.overdue_at + GIVEN_UP:
        return Verdict.LOOK_BACK, "another agent began it and never ended it"
    return Verdict.LEAVE, "another agent does it"
