"""A poll's work on a spool of its own: what a test reads is what would be sent."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from agent.events import EventMaker
from agent.polls.reading import Instant, Memory, Poll, Reading
from agent.polls.work import PollWork
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from policies.contract.envelope import NodeIdentity
from policies.contract.vocabulary import Source
from tests.tools.agent_events import START, ManualClock, describe_loss, memory_folder, new_ids
from tests.tools.sources import NODE, waiting

LATE = 10_000.0  # seconds since boot at which the tests begin: long after the boot grace


def instant(seconds: float = 0.0, *, uptime: float = LATE) -> Instant:
    """Return the moment so many seconds after the test's start."""
    return Instant(START + timedelta(seconds=seconds), uptime + seconds)


def measure(poll: Poll, seconds: float = 0.0, memory: Memory | None = None) -> list[Reading]:
    """Return what *poll* reads; pass the same *memory* again for a second look."""
    return list(poll.measure({} if memory is None else memory, instant(seconds)))


@dataclass(slots=True)
class Bench:
    """A poll's work, a spool, and whatever was sent so far."""

    spool: Spool
    boot_grace: float = 300.0
    seen: int = field(default=0)
    work: PollWork = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin again at what the spool says, as after a crash."""
        self._begin(NODE)

    def boot(self) -> None:
        """Begin again as after a reboot of the node."""
        self._begin(NODE.model_copy(update={"boot_id": "another"}))

    def _begin(self, node: NodeIdentity) -> None:
        maker = EventMaker(node, Source.HOST, lambda _seen: None)
        self.work = PollWork("test", self.spool, maker, boot_grace=self.boot_grace)

    def take(self, readings: Sequence[Reading], seconds: float, *, uptime: float = LATE) -> list[dict[str, Any]]:
        """Return the events that these readings made, in wire form."""
        self.work.take(readings, instant(seconds, uptime=uptime))
        return self.new()

    def poll(self, poll: Poll, seconds: float, *, uptime: float = LATE) -> list[dict[str, Any]]:
        """Let *poll* measure, and return the events that came of it."""
        now = instant(seconds, uptime=uptime)
        self.work.take(poll.measure(self.work.memory, now), now)
        return self.new()

    def new(self) -> list[dict[str, Any]]:
        """Return the events since the last look."""
        events = waiting(self.spool)
        new, self.seen = events[self.seen :], len(events)
        return new


@contextmanager
def bench() -> Iterator[Bench]:
    """Open a spool in memory for one poll's work."""
    with (
        memory_folder() as folder,
        open_spool(
            Path(folder),
            owner=NODE.instance_id,
            boot_id="b",
            limits=SpoolLimits(),
            clock=ManualClock(),
            new_id=new_ids(),
            describe_loss=describe_loss,
        ) as spool,
    ):
        yield Bench(spool)


def stopped() -> threading.Event:
    """Return an event that is set: a source that runs until then measures nothing more."""
    stop = threading.Event()
    stop.set()
    return stop
