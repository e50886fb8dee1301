"""What every source of log lines does with them: sightings, bursts, and events with the place into the spool as one.

Decides when something is appended: as soon as there is an event, and every few seconds how far it has read. It waits
for the disk, never for the network. It must not know which log it is, nor what a fault means.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agent.coalesce import Coalescer, Seen
from agent.events import EventMaker
from agent.follow.reader import MICROSECONDS, LogGap, LogItem, LogReader, LogRecord, Place
from agent.parsers.sighting import Sighting
from agent.spool.spool import Spool
from agent.spool.state import Progress
from policies.contract.events import FaultEvent, Scalar

READ_SECONDS = 0.25  # how long one read waits: bounds how late a stop is heard and a delta told
_EVENTS_AN_APPEND = 32
_SIGHTINGS_A_RECORD = 8  # a record that claims more was not written by whom it says
_PLACE_SECONDS = 5.0
Classify = Callable[[LogRecord], list[Sighting]]


class LogWork:
    """What one run holds in memory. When it raises, nothing of it is kept: the next begins at what the spool says."""

    def __init__(
        self, name: str, spool: Spool, maker: EventMaker, classify: Classify, place: Progress | None = None
    ) -> None:
        """Go on at *place*, which *spool* told under *name*."""
        self._name = name
        self._spool = spool
        self._maker = maker
        self._classify = classify
        self._coalescer = Coalescer(maker.event, place.bursts if place else None)
        self._place: Place | None = None
        self._is_new = place is None
        self._stored_at = time.monotonic()
        self._now = self._coalescer.latest  # the log's own time in microseconds, and when we read it
        self._now_at = time.monotonic()

    def take(self, items: Sequence[LogItem]) -> None:
        """Handle what was read; an empty read lets bursts end by the time that passed."""
        events: list[FaultEvent] = []
        for item in items:
            events += self._gap(item) if isinstance(item, LogGap) else self._record(item)
            self._place = item.place
            if len(events) >= _EVENTS_AN_APPEND:
                self._append(events)
                events = []
        now = time.monotonic()
        if items:
            self._now_at = now
        else:
            events += self._coalescer.elapse(self._now + int((now - self._now_at) * MICROSECONDS))
        if events or (self._place is not None and now - self._stored_at > _PLACE_SECONDS):
            self._append(events)

    def begin_at(self, place: Place | None) -> None:
        """Note where a source begins that the spool knows nothing of: what comes while nobody looks is behind it."""
        if self._is_new and self._place is None and place is not None:
            self._place = place
            self._append([])
        self._is_new = self._is_new and place is None

    def finish(self) -> None:
        """Tell what was counted so far, and note the place."""
        self._append(self._coalescer.flush())

    def _gap(self, gap: LogGap) -> list[FaultEvent]:
        return [self._maker.gap(reason=gap.reason, key=gap.key, at=gap.at, lost=gap.lost)]

    def _record(self, item: LogRecord) -> list[FaultEvent]:
        self._now = item.ticks
        events: list[FaultEvent] = []
        for part, sighting in enumerate(self._classify(item)[:_SIGHTINGS_A_RECORD]):
            cursor = f"{item.key}:{part}" if part else item.key
            noted = _with_notes(sighting, item.notes)
            events += self._coalescer.take(Seen(noted, cursor, item.ticks, item.at, item.record.text, cut=item.cut))
        return events

    def _append(self, events: list[FaultEvent]) -> None:
        """Put *events* and the place into the spool as one; nothing when nothing is new."""
        changes = self._coalescer.changes()
        self._stored_at = time.monotonic()
        if events or changes or self._place is not None:
            place = self._place.as_json() if self._place else self._spool_place()
            self._spool.append(events, Progress(self._name, place, changes))
            self._place = None

    def _spool_place(self) -> object:
        before = self._spool.progress(self._name)
        return before.cursor if before else None


def _with_notes(sighting: Sighting, notes: Mapping[str, Scalar]) -> Sighting:
    return replace(sighting, attributes={**sighting.attributes, **notes}) if notes else sighting


def _as_it_is(items: Sequence[LogItem]) -> Sequence[LogItem]:
    return items


def follow(
    reader: LogReader,
    work: LogWork,
    stop: threading.Event,
    joined: Callable[[Sequence[LogItem]], Sequence[LogItem]] = _as_it_is,
) -> None:
    """Let *work* have what *reader* reads until *stop*; the reader is closed in any case, and what it raises goes on.

    *joined* makes one record of those that tell one thing, and may hold some back until the log is quiet.
    """
    try:
        while not stop.is_set():
            work.take(joined(reader.read(READ_SECONDS)))
            work.begin_at(reader.place())
    finally:
        reader.close()
    work.finish()
