"""One redrive, from what was asked to what became of it.

Decides what is chosen, asks a person before anything is sent, and looks before it leaps with ``--dry-run``. How a place
is redriven is for `redrive_queues.py`, `redrive_rejects.py` and `redrive_failures.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.dlq.looking import peek
from console.dlq.model import DeadQueue, DlqError, Outcome
from console.dlq.parts import FAILURES, REJECTS, Parts
from console.dlq.reasons import why
from console.dlq.redaction import safe_text
from console.dlq.redrive_failures import FailureRedrive
from console.dlq.redrive_queues import QueueRedrive
from console.dlq.redrive_rejects import RejectRedrive
from console.dlq.showing import one_reject
from functions.ports.triage import RejectSummary

MOST_PLANNED = 100


@dataclass(frozen=True)
class Wish:
    """What was asked for."""

    place: str
    wanted: str = ""
    days: int = 14
    dry: bool = False
    again: bool = False


@dataclass(frozen=True)
class Redriving:
    """Carries a wish out. ``agree`` asks a person and is told what is about to happen."""

    parts: Parts
    agree: Callable[[str], bool]
    progress: Callable[[str], None]

    def carry_out(self, wish: Wish) -> tuple[Sequence[Outcome], int]:
        """Return what became of each item, and how many were left out since they were redriven before."""
        if wish.place == REJECTS:
            return self._rejects(wish)
        if wish.place == FAILURES:
            return self._failures(wish)
        return self._queue(wish), 0

    def _rejects(self, wish: Wish) -> tuple[Sequence[Outcome], int]:
        chosen, left_out = self._choose_rejects(wish)
        redrive = RejectRedrive(
            self.parts.rejects, self.parts.redrives, self.parts.stream, self.parts.clock, wish.again, wish.dry
        )
        if chosen:
            self._agree(wish, f"Put {len(chosen)} rejected records back on the faults stream?")
        return redrive.all(chosen), left_out

    def _choose_rejects(self, wish: Wish) -> tuple[Sequence[RejectSummary], int]:
        if wish.wanted:
            return [one_reject(self.parts, wish.wanted, wish.days)], 0
        found = self.parts.looker.list_rejects(wish.days)
        sent = {} if wish.again else self.parts.redrives.times([one.id for one in found])
        return [one for one in found if one.id not in sent], len(sent)

    def _failures(self, wish: Wish) -> tuple[Sequence[Outcome], int]:
        found = self.parts.failures(wish.wanted)
        skip = {} if wish.again or wish.wanted else self.parts.redrives.times([one.key for one in found])
        chosen = [one for one in found if one.key not in skip]
        redrive = FailureRedrive(
            self.parts.dropped,
            self.parts.redrives,
            self.parts.stream,
            self.parts.targets,
            self.parts.clock,
            wish.again,
            wish.dry,
            self.parts.stack.outputs.get("ArchiveFunction", ""),
        )
        if chosen:
            self._agree(wish, f"Send {len(chosen)} given-up batches back to where they failed?")
        return redrive.all(chosen), len(skip)

    def _queue(self, wish: Wish) -> Sequence[Outcome]:
        queue = self.parts.queue(wish.place)
        if wish.dry:
            return self._plan(queue, wish)
        waiting = queue.state.depth + queue.state.in_flight
        what = f"message {wish.wanted}" if wish.wanted else f"about {waiting} messages"
        where = queue.source_name or "those who missed them"
        if not waiting:
            return []
        self._agree(wish, f"Send {what} of {queue.name} back to {where}?")
        sweep = self.parts.stack.outputs.get("SweepFunction", "")
        redrive = QueueRedrive(self.parts.queues, self.parts.targets, queue, sweep, self.progress, self.parts.pause)
        return [redrive.one(wish.wanted)] if wish.wanted else redrive.all()

    def _plan(self, queue: DeadQueue, wish: Wish) -> Sequence[Outcome]:
        found = peek(self.parts.queues, queue, MOST_PLANNED)
        where = queue.source_name or "whom it was for"
        return [
            Outcome(one.id, "planned", f"to {where}; it died because: {safe_text(why(queue.name, one))}")
            for one in found
            if one.id.startswith(wish.wanted)
        ]

    def _agree(self, wish: Wish, question: str) -> None:
        if not (wish.dry or self.agree(question)):
            raise DlqError("nothing was sent: the answer was no.")
