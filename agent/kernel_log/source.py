"""The kernel log as a source: which reader it takes, and what its records are told beside what they say.

Decides where a log is begun and which lines are of another boot. It must not know lanes, nor what a fault means.
"""

import stat
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from agent.events import EventMaker
from agent.follow.reader import LogReader, LogRecord
from agent.follow.suppressed import parse_suppressed
from agent.follow.tail import BEFORE_BOOT, FileTail
from agent.follow.work import LogWork, follow
from agent.kernel_log.boots import boot_begins
from agent.kernel_log.device import open_device
from agent.kernel_log.joiner import Joiner
from agent.kernel_log.phases import DriverPhase
from agent.kernel_log.record import parse_record
from agent.own import OwnWork
from agent.parsers.registry import parse_sightings, unknown_layout
from agent.parsers.sighting import Sighting
from agent.spool.spool import Spool
from agent.spool.state import Progress
from agent.xid_ledger import XidLedger
from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.vocabulary import Source

NAME = Source.KERNEL_LOG.value
_TOLD_AT_MOST = 64
_CLOCKS_DIFFER = timedelta(seconds=5)  # the clock is often set right after boot


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Which log, where to begin without a place, and the name of this boot."""

    path: Path
    boot_id: str
    start: str = "auto"


def open_reader(settings: LogSettings, place: Progress | None, clock: Callable[[], datetime]) -> LogReader:
    """Open the log, going on at *place*; OSError when it cannot be read."""
    position = place.cursor if place else None
    if _is_device(settings.path):
        mine = position if position and "seq" in position else None
        return open_device(str(settings.path), mine, boot_id=settings.boot_id, clock=clock, uptime=time.monotonic)
    mine = position if position and "offset" in position else None
    start = None if _from_end(settings) else 0
    return FileTail(settings.path, mine, clock=clock, start=start, boot_begins=boot_begins)


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
        self,
        settings: LogSettings,
        spool: Spool,
        maker: EventMaker,
        *,
        clock: Callable[[], datetime],
        uptime: Callable[[], float] = lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
        xids: XidLedger | None = None,
        own: OwnWork | None = None,
        driver: Callable[[], DriverLayout | None] = unknown_layout,
    ) -> None:
        """Read what *settings* name; events go to *spool*. *uptime* is in seconds since boot, suspended time too.

        The Xids that it tells are noted in *xids*, by that clock. What *own* knows as our own doing is no fault.
        *driver* tells how the loaded driver prints NVLink errors.
        """
        self._settings = settings
        self._spool = spool
        self._maker = maker
        self._clock = clock
        self._uptime = uptime
        self._xids = xids
        self._own = own
        self._driver = driver

    def run(self, stop: threading.Event) -> None:
        """Read until *stop*; OSError when the log cannot be read: call it again later, it goes on where it was."""
        place = self._spool.progress(NAME)
        reader = open_reader(self._settings, place, self._clock)
        booted = self._clock() - timedelta(seconds=self._uptime()) - _CLOCKS_DIFFER
        classifier = KernelClassifier(booted, self._driver)
        work = LogWork(
            NAME, self._spool, self._maker, lambda item: self._note(classifier.classify(item), item.at), place
        )
        follow(reader, work, stop, joined=Joiner().take)

    def _note(self, found: list[Sighting], at: datetime) -> list[Sighting]:
        if self._own is not None and found:
            found = [sighting for sighting in found if not self._own.caused(sighting, at)]
        for sighting in found:
            xid, part = sighting.attributes.get("xid"), sighting.component
            if self._xids is not None and isinstance(xid, int) and part is not None:
                self._xids.note(part.pci, xid, self._uptime())
        return found


class KernelClassifier:
    """Tells what a record says, and whether it was said before *booted* or while the driver was loading."""

    def __init__(self, booted: datetime, layout: Callable[[], DriverLayout | None] = unknown_layout) -> None:
        """Nothing was read yet; *layout* is how the loaded driver prints NVLink errors."""
        self._booted = booted
        self._layout = layout
        self._phase = DriverPhase()
        self._told: dict[str, list[Sighting]] = {}

    def classify(self, item: LogRecord) -> list[Sighting]:
        """Return what *item* tells of."""
        found = self._told.get(item.record.text)
        if found is None or item.record.facility or item.record.tag:
            found = self._parse(item)
        return [self._noted(sighting, item) for sighting in found]

    def _parse(self, item: LogRecord) -> list[Sighting]:
        """A storm says the same again and again, so what the kernel's last faulty lines told is kept."""
        record = item.record
        if self._phase.hear(record.text, item.ticks):
            self._told.clear()  # another driver may print the same words and mean something else
        found = parse_sightings(record, self._layout) or parse_suppressed(record.text, NAME)
        if found and not record.facility and not record.tag:
            if len(self._told) >= _TOLD_AT_MOST:
                self._told.clear()
            self._told[record.text] = found
        return found

    def _noted(self, sighting: Sighting, item: LogRecord) -> Sighting:
        notes = self._phase.notes(sighting.kind, item.ticks)
        if item.record.at is not None and item.record.at < self._booted:
            notes = {**notes, **BEFORE_BOOT}
        return replace(sighting, attributes={**sighting.attributes, **notes}) if notes else sighting
