"""A poll as a source: one thread that measures, waits, and measures again.

Decides the pace, and what happens where there is nothing to measure: it is said once and looked for again, soon while
the node boots. It must not know what is measured.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agent.events import EventMaker
from agent.polls.reading import Instant, NotHereError, Poll
from agent.polls.work import PollWork
from agent.spool.spool import Spool
from agent.vitals import Vitals

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 600.0
BOOT_LOOK_SECONDS = 15.0  # drivers and services come one by one while a node boots


def since_boot() -> float:
    """Return seconds since boot, sleep included: the only place where polls read that clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: a poll every ``every``; one should be back within ``deadline``; ``boot_grace`` since boot."""

    every: float
    deadline: float = 10.0
    boot_grace: float = 0.0
    look_again: float = LOOK_AGAIN_SECONDS

    def look_again_at(self, ticks: float) -> float:
        """Return in how many seconds what is not here is looked for again, so many seconds after boot."""
        return min(self.look_again, BOOT_LOOK_SECONDS) if ticks < self.boot_grace else self.look_again


class PollSource:
    """One thread's work: `run` until told to stop."""

    def __init__(
        self,
        name: str,
        poll: Poll,
        spool: Spool,
        maker: EventMaker,
        *,
        pace: Pace,
        vitals: Vitals,
        clock: Callable[[], datetime],
        ticks: Callable[[], float] = since_boot,
    ) -> None:
        """Events of *poll* go to *spool* under *name*."""
        self.name = name
        self._poll = poll
        self._spool = spool
        self._maker = maker
        self._pace = pace
        self._vitals = vitals
        self._clock = clock
        self._ticks = ticks
        self._absent = ""

    def run(self, stop: threading.Event) -> None:
        """Measure until *stop*; what the poll raises goes on: call it again later."""
        work = PollWork(self.name, self._spool, self._maker, boot_grace=self._pace.boot_grace)
        while not stop.is_set():
            now = Instant(self._clock(), self._ticks())
            try:
                with self._vitals.measuring(self.name, self._pace.deadline):
                    readings = self._poll.measure(work.memory, now)
            except NotHereError as error:
                self._not_here(str(error))
                stop.wait(self._pace.look_again_at(now.ticks))
                continue
            self._vitals.running(self.name)
            self._absent = ""
            work.take(readings, now)
            stop.wait(max(0.0, self._pace.every - (self._ticks() - now.ticks)))
        work.finish(Instant(self._clock(), self._ticks()))

    def _not_here(self, reason: str) -> None:
        self._vitals.absent(self.name, reason)
        if reason != self._absent:
            log.info("nothing to measure here", extra={"source": self.name, "reason": reason})
        self._absent = reason
