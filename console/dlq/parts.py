"""Everything the three subcommands work with, whoever built it: AWS (`wiring.py`) or twins (tests)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from console.dlq.finding import choose, dead_queues
from console.dlq.model import DeadQueue, DlqError, Dropped, Stack
from console.dlq.overview import Looker
from console.dlq.ports import DroppedBatches, Queues, Redrives, Stream, Targets
from functions.ports.triage import RejectStore

REJECTS, FAILURES = "rejects", "failures"


@dataclass(frozen=True)
class Parts:
    """The ports of one stack. ``pause`` sleeps that many seconds."""

    stack: Stack
    queues: Queues
    rejects: RejectStore
    dropped: DroppedBatches
    redrives: Redrives
    stream: Stream
    targets: Targets
    clock: Callable[[], datetime]
    pause: Callable[[float], None]

    @property
    def looker(self) -> Looker:
        """What reads and never writes."""
        return Looker(self.stack, self.queues, self.rejects, self.dropped, self.redrives, self.clock)

    def queue(self, name: str) -> DeadQueue:
        """Return the dead-letter queue of this name; DlqError with the names there are."""
        return choose(dead_queues(self.stack, self.queues), name)

    def failures(self, wanted: str = "") -> Sequence[Dropped]:
        """Return all batches that were given up, or the one whose key (or its last part) begins with *wanted*."""
        found = self.dropped.list()
        if not wanted:
            return found
        chosen = [one for one in found if one.key == wanted or name_of(one.key).startswith(wanted)]
        if len(chosen) != 1:
            raise DlqError(
                f"{len(chosen)} batches have the id {wanted!r}.",
                hint="`relight dlq show failures` lists them; give one whole id.",
            )
        return chosen


def name_of(key: str) -> str:
    """Return the last part of an object's key: time and uuid, which names it well enough."""
    return key.rpartition("/")[2]
