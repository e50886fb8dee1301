"""Carries commands out: each in a thread of its own, one at a time on what it needs for itself.

The order is always the same: judge, look at the precondition, write the claim, do it once, write how it ended, again
and again until that is written. What was begun before this process or this boot is looked at and told, never done
again. It must not know DynamoDB or any operation.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.commands.doing import Doing, Errand, Outcome, Resource
from agent.commands.judging import Self, Verdict, judge
from agent.commands.pacing import Pacing, ServerClock
from agent.commands.table import NodeTable
from policies.contract.commands.command import (
    OUTPUT_LIMIT_BYTES,
    Claim,
    Command,
    CommandRecord,
    CommandStatus,
    Result,
)
from policies.contract.commands.operations import Operation, Params, parse_params
from policies.contract.errors import BadInputError, DependencyError

log = logging.getLogger(__name__)
_TELL_AGAIN_SECONDS = 2.0
_LONGEST_REASON = 1000
Doings = Mapping[Operation, Doing[Any]]


@dataclass(frozen=True, slots=True)
class Clocks:
    """The server's clock, and when to look."""

    server: ServerClock
    pacing: Pacing


class CommandWorker:
    """One node's. `step` is called by one thread."""

    def __init__(
        self, table: NodeTable, doings: Doings, me: Callable[[], Self], clocks: Clocks, stop: threading.Event
    ) -> None:
        """Do what *table* holds, by *doings*, until *stop*; *me* is asked anew each time, for the spool may change."""
        self._table = table
        self._doings = doings
        self._me = me
        self._clocks = clocks
        self._stop = stop
        self._lock = threading.Lock()
        self._in_hand: dict[str, Resource] = {}
        self._threads: list[threading.Thread] = []

    @property
    def in_hand(self) -> Mapping[str, Resource]:
        """What is being done."""
        with self._lock:
            return dict(self._in_hand)

    def step(self) -> None:
        """Look once, and begin what may be begun. DependencyError when the table is not reached."""
        look = self._table.look()
        self._clocks.server.tell(look.at)
        for record in sorted(look.records, key=lambda one: (one.command.issued_at, one.command.id)):
            self._consider(record)

    def join(self, seconds: float) -> None:
        """Wait for what is being done, at most so long in all."""
        for thread in list(self._threads):
            thread.join(seconds)

    def _consider(self, record: CommandRecord) -> None:
        me = self._me()
        verdict, why = judge(record, me, self.in_hand, self._clocks.server.now())
        if verdict is Verdict.LEAVE:
            return
        self._clocks.pacing.stir()
        if verdict is Verdict.REFUSE:
            self._refuse(record, why)
            return
        try:
            params = parse_params(record.command.operation, record.command.params)
        except BadInputError as error:
            self._refuse(record, error.message)
            return
        doing = self._doings.get(record.command.operation)
        if doing is None:  # begun by an agent that took it, and this one does not
            self._write_end(record, _told(Outcome(ok=False, reason=why), self._clocks.server))
        elif self._reserve(record.command, doing.resource):
            self._start(record, doing, params, me, why if verdict is Verdict.LOOK_BACK else "")

    def _reserve(self, command: Command, resource: Resource) -> bool:
        with self._lock:
            if resource in self._in_hand.values():
                return False
            self._in_hand[command.id] = resource
            return True

    def _start(self, record: CommandRecord, doing: Doing[Any], params: Params, me: Self, interrupted: str) -> None:
        def work() -> None:
            try:
                self._work(record, doing, params, me, interrupted)
            finally:
                with self._lock:
                    self._in_hand.pop(record.command.id, None)

        name = f"command-{record.command.operation}"
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads = [*(one for one in self._threads if one.is_alive()), thread]
        thread.start()

    def _work(self, record: CommandRecord, doing: Doing[Any], params: Params, me: Self, interrupted: str) -> None:
        if interrupted and record.claim:
            rebooted = record.claim.boot_id != me.boot_id
            errand = Errand(record.command.id, record.claim, record.command.seconds, self._stop, rebooted)
            outcome = _carry_out(lambda: doing.look_back(params, errand), interrupted)
            self._write_end(record, _told(outcome, self._clocks.server))
            return
        reason = _carry_out(lambda: Outcome(ok=not (why := doing.why_not(params)), reason=why))
        if not reason.ok:
            self._refuse(record, reason.reason)
            return
        claim = Claim(by=me.spool_id, boot_id=me.boot_id, at=self._clocks.server.now())
        if not self._claim(record, claim):
            return
        begun = record.model_copy(update={"claim": claim})
        if self._clocks.server.now() >= record.command.expires_at:  # the table was away while it was written
            outcome = Outcome(ok=False, reason="it could be begun only after it had expired: nothing was done")
            self._write_end(begun, _told(outcome, self._clocks.server))
            return
        log.warning("a command begins", extra=_named(record.command))
        errand = Errand(record.command.id, claim, record.command.seconds, self._stop)
        outcome = _carry_out(lambda: doing.run(params, errand))
        self._write_end(begun, _told(outcome, self._clocks.server))

    def _claim(self, record: CommandRecord, claim: Claim) -> bool:
        """Write the claim, while it may be begun. What nobody knows to be written is not done, but looked at later."""

        def write() -> bool:
            return self._clocks.server.now() < record.command.expires_at and self._table.begin(record, claim)

        return self._again(write)

    def _refuse(self, record: CommandRecord, why: str) -> None:
        log.warning("a command is refused", extra={**_named(record.command), "reason": why})
        result = Result(at=self._clocks.server.now(), reason=why[:_LONGEST_REASON])
        try:
            self._table.turn_down(record, result)
        except DependencyError as error:  # the next look finds it pending still, and refuses it again
            log.warning("a refusal could not be written", extra={"error": str(error)})

    def _write_end(self, record: CommandRecord, ended: tuple[CommandStatus, Result]) -> None:
        status, result = ended
        claim = record.claim
        log.warning("a command ended", extra={**_named(record.command), "status": status, "reason": result.reason})
        if claim is not None and not self._again(lambda: self._table.end(record, claim, status, result)):
            log.warning("how a command ended could not be written", extra=_named(record.command))

    def _again(self, write: Callable[[], bool]) -> bool:
        """Write until the table has answered, or the agent stops; a write that is made twice is one."""
        while True:
            try:
                return write()
            except DependencyError:
                if self._stop.wait(_TELL_AGAIN_SECONDS):
                    return False


def _carry_out(do: Callable[[], Outcome], why: str = "") -> Outcome:
    try:
        outcome = do()
    except Exception as error:
        log.warning("an operation broke", exc_info=error)
        outcome = Outcome(ok=False, reason=f"{type(error).__name__}: {error}")
    reason = "; ".join(filter(None, (why, outcome.reason)))
    return Outcome(outcome.ok, reason, outcome.output, outcome.address, outcome.facts)


def _told(outcome: Outcome, clock: ServerClock) -> tuple[CommandStatus, Result]:
    raw = outcome.output.encode("utf-8", "replace")
    result = Result(
        at=clock.now(),
        reason=outcome.reason[:_LONGEST_REASON],
        output=raw[-OUTPUT_LIMIT_BYTES:].decode("utf-8", "ignore"),
        truncated=len(raw) > OUTPUT_LIMIT_BYTES,
        address=outcome.address,
        facts=dict(outcome.facts),
    )
    return (CommandStatus.DONE if outcome.ok else CommandStatus.FAILED), result


def _named(command: Command) -> dict[str, Any]:
    return {"command": command.id, "operation": str(command.operation), "incident": command.incident, "by": command.by}
