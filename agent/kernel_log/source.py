"""The kernel log as a source: reads, parses, coalesces, and puts events and place into the spool as one.

Decides when something is appended: as soon as there is an event, and every few seconds how far it has read. It waits
for the log and for the disk, never for the network. It must not know lanes, nor what a fault means.
"""

import stat
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.coalesce import Coalescer, Seen
from agent.driver import LoadedDriver
from agent.events import EventMaker
from agent.kernel_log.device import open_device
from agent.kernel_log.joiner import Joiner
from agent.kernel_log.reader import MICROSECONDS, LogGap, LogReader, LogRecord
from agent.kernel_log.record import parse_record
from agent.kernel_log.tail import FileTail
from agent.parsers.registry import parse_sightings
from agent.spool.spool import Spool
from agent.spool.state import Progress
from policies.contract.events import FaultEvent
from policies.contract.vocabulary import Source

NAME = Source.KERNEL_LOG.value
_READ_SECONDS = 0.25  # how long one read waits: bounds how late a stop is heard and a delta told
_EVENTS_AN_APPEND = 32
_SIGHTINGS_A_RECORD = 8  # a record that claims more was not written by the kernel
_PLACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Which log, where to begin without a place, and the name of this boot."""

    path: Path
    boot_id: str
    start: str = "auto"
    driver: str = ""  # version of NVIDIA's driver; empty: what the loaded one says


def open_reader(settings: LogSettings, place: Progress | None, clock: Callable[[], datetime]) -> LogReader:
    """Open the log, going on at *place*; OSError when it cannot be read."""
    position = place.cursor if place else None
    if _is_device(settings.path):
        mine = position if position and "seq" in position else None
        return open_device(str(settings.path), mine, boot_id=settings.boot_id, clock=clock, uptime=time.monotonic)
    mine = position if position and "offset" in position else None
    return FileTail(settings.path, mine, clock=clock, from_end=_from_end(settings))


def _is_device(path: Path) -> bool:
    try:
        return stat.S_ISCHR(path.stat().st_mode)
    except FileNotFoundError:
        return False


def _from_end(settings: LogSettings) -> bool:
    """Old lines that do not say when since boot they were written would pass for new ones."""
    if settings.start != "auto":
        return settings.start == "end"
    try:
        with settings.path.open("rb") as file:
            first = file.readline(4096)
    except OSError:
        return False
    return bool(first) and parse_record(first.decode("utf-8", "replace")).uptime is None


class KernelLogSource:
    """One thread's work: `run` until told to stop."""

    def __init__(
        self, settings: LogSettings, spool: Spool, maker: EventMaker, *, clock: Callable[[], datetime]
    ) -> None:
        """Read what *settings* name; events go to *spool*."""
        self._settings = settings
        self._spool = spool
        self._maker = maker
        self._clock = clock

    def run(self, stop: threading.Event) -> None:
        """Read until *stop*; OSError when the log cannot be read: call it again later, it goes on where it was."""
        place = self._spool.progress(NAME)
        reader = open_reader(self._settings, place, self._clock)
        work = _Work(self._spool, self._maker, place, LoadedDriver(self._settings.driver))
        joiner = Joiner()
        try:
            while not stop.is_set():
                work.take(joiner.take(reader.read(_READ_SECONDS)))
        finally:
            reader.close()
        work.finish()


class _Work:
    """What one run holds in memory. When it raises, nothing of it is kept: the next begins at what the spool says."""

    def __init__(self, spool: Spool, maker: EventMaker, place: Progress | None, driver: LoadedDriver) -> None:
        self._spool = spool
        self._maker = maker
        self._driver = driver
        self._coalescer = Coalescer(maker.event, place.bursts if place else None)
        self._place = self._stored = place.cursor if place else None
        self._stored_at = time.monotonic()
        self._now = self._coalescer.latest  # the log's own time in microseconds, and when we read it
        self._now_at = time.monotonic()

    def take(self, items: Sequence[LogRecord | LogGap]) -> None:
        """Handle what was read; an empty read lets bursts end by the time that passed."""
        events: list[FaultEvent] = []
        for item in items:
            events += self._gap(item) if isinstance(item, LogGap) else self._record(item)
            self._place = item.position
            if len(events) >= _EVENTS_AN_APPEND:
                self._append(events)
                events = []
        if not items:
            passed = (time.monotonic() - self._now_at) * MICROSECONDS
            events += self._coalescer.elapse(self._now + int(passed))
        place_is_old = self._place != self._stored and time.monotonic() - self._stored_at > _PLACE_SECONDS
        if events or place_is_old:
            self._append(events)

    def finish(self) -> None:
        """Tell what was counted so far, and note the place."""
        self._append(self._coalescer.flush())

    def _gap(self, gap: LogGap) -> list[FaultEvent]:
        return [self._maker.gap(reason=gap.reason, key=gap.key, at=gap.at, lost=gap.lost)]

    def _record(self, item: LogRecord) -> list[FaultEvent]:
        self._now, self._now_at = item.ticks, time.monotonic()
        events: list[FaultEvent] = []
        for part, sighting in enumerate(parse_sightings(item.record, self._driver)[:_SIGHTINGS_A_RECORD]):
            cursor = f"{item.key}:{part}" if part else item.key
            events += self._coalescer.take(Seen(sighting, cursor, item.ticks, item.at, item.record.text, cut=item.cut))
        return events

    def _append(self, events: list[FaultEvent]) -> None:
        """Put *events* and the place into the spool as one; nothing when nothing is new."""
        changes = self._coalescer.changes()
        if events or changes or self._place != self._stored:
            self._spool.append(events, Progress(NAME, self._place, changes))
        self._stored, self._stored_at = self._place, time.monotonic()
