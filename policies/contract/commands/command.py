"""A command to a node and how it stands: the whole life as one table, with no I/O.

    pending → running → done | failed
    pending → refused (its agent says why not) | expired (nobody began it in time)

Each step is a conditional write on the step before, so that of any two who write one wins, and a step that is written
twice is one. It must not know DynamoDB (`items.py` does) or what an operation does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from policies.contract.base import Model
from policies.contract.commands.operations import CLAIM_SECONDS, Operation, Params, longest_run
from policies.contract.events import LONGEST_ADDRESS, Scalar
from policies.contract.times import Moment, add_seconds

OUTPUT_LIMIT_BYTES = 4096  # the end of what a program said; what is larger goes to S3


class CommandStatus(StrEnum):
    """Where a command stands."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"  # it was seen to have worked
    FAILED = "failed"  # it did not work, or nobody can tell
    REFUSED = "refused"  # not allowed on that node, or its precondition does not hold: nothing was touched
    EXPIRED = "expired"  # nobody began it in time: nothing was touched

    @property
    def is_open(self) -> bool:
        """Whether something may still happen for it."""
        return self in {CommandStatus.PENDING, CommandStatus.RUNNING}


_S = CommandStatus
TABLE: Mapping[CommandStatus, frozenset[CommandStatus]] = {
    _S.PENDING: frozenset({_S.RUNNING, _S.REFUSED, _S.EXPIRED}),
    _S.RUNNING: frozenset({_S.DONE, _S.FAILED}),
    _S.DONE: frozenset(),
    _S.FAILED: frozenset(),
    _S.REFUSED: frozenset(),
    _S.EXPIRED: frozenset(),
}


class Command(Model):
    """What is asked. It never changes. ``node`` is the instance's ARN; ``id`` is deterministic where Relight asks.

    Whoever begins it does so before ``expires_at`` and has ``seconds`` from then on. ``by`` is for people.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    node: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    operation: Operation
    params: dict[str, Any] = Field(default_factory=dict)
    issued_at: Moment
    expires_at: Moment
    seconds: Annotated[float, Field(gt=0, le=86_400)]
    incident: str = ""
    fence: int = 0
    by: Annotated[str, StringConstraints(max_length=200)] = ""


class Claim(Model):
    """Who began it: the agent's spool id and boot tell a crash and a reboot from another agent on the same node."""

    by: str
    boot_id: str
    at: Moment


class Result(Model):
    """How it ended. ``output`` is the end of what was said; ``address`` is where the rest is, or will be."""

    at: Moment
    reason: Annotated[str, StringConstraints(max_length=1000)] = ""
    output: str = ""
    truncated: bool = False
    address: Annotated[str, Field(max_length=LONGEST_ADDRESS)] = ""
    facts: dict[str, Scalar] = Field(default_factory=dict)


class CommandRecord(Model):
    """The item: a command and how it stands."""

    command: Command
    status: CommandStatus = CommandStatus.PENDING
    claim: Claim | None = None
    result: Result | None = None

    @property
    def overdue_at(self) -> Moment:
        """When it should have ended, or been begun."""
        if self.claim is None:
            return self.command.expires_at
        return add_seconds(self.claim.at, self.command.seconds)


@dataclass(frozen=True)
class Look:
    """What is open for a node, as its agent sees it. ``at`` is the server's own time, None where it does not tell."""

    records: Sequence[CommandRecord]
    at: datetime | None = None


def new_command(
    command_id: str,
    node: str,
    operation: Operation,
    params: Params,
    now: Moment,
    *,
    claim_seconds: float = CLAIM_SECONDS,
    **who: Any,  # noqa: ANN401 - incident, fence, by
) -> Command:
    """Return a command that is issued *now*; *who* names incident, fence or a person."""
    return Command(
        id=command_id,
        node=node,
        operation=operation,
        params=params.model_dump(mode="json", exclude_defaults=True),
        issued_at=now,
        expires_at=add_seconds(now, claim_seconds),
        seconds=longest_run(params),
        **who,
    )


def begin(record: CommandRecord, claim: Claim) -> CommandRecord | None:
    """Return *record* as begun by *claim*; None when it may not be (ended, expired, or somebody else's)."""
    if record.status is _S.RUNNING and record.claim == claim:
        return record
    if record.status is not _S.PENDING or claim.at >= record.command.expires_at:
        return None
    return record.model_copy(update={"status": _S.RUNNING, "claim": claim})


def end(record: CommandRecord, claim: Claim, status: CommandStatus, result: Result) -> CommandRecord | None:
    """Return *record* as ended by who began it; None when that is not *claim*, or it ended otherwise."""
    if (record.status, record.claim, record.result) == (status, claim, result):
        return record
    if status not in TABLE[_S.RUNNING] or record.status is not _S.RUNNING or record.claim != claim:
        return None
    return record.model_copy(update={"status": status, "result": result})


def turn_down(record: CommandRecord, result: Result) -> CommandRecord | None:
    """Return *record* as refused; None when it is not pending any more."""
    if (record.status, record.result) == (_S.REFUSED, result):
        return record
    if record.status is not _S.PENDING:
        return None
    return record.model_copy(update={"status": _S.REFUSED, "result": result})


def expire(record: CommandRecord, now: Moment) -> CommandRecord:
    """Return *record* as expired when nobody began it in time; as it is otherwise."""
    if record.status is _S.PENDING and now >= record.command.expires_at:
        return record.model_copy(update={"status": _S.EXPIRED})
    return record
