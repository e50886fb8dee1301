"""A burst is told twice: its first record at once, then how many more there were.

A broken GPU prints the same line thousands of times. The first record of a (kind, component, code) opens a window of
ten seconds by the records' own times and goes out as it is; those that follow within it become one *delta*, whose count
adds to the first. Ids come from the first record each event stands for. So who reads the same records from the
same state makes the same events, and the state goes into the spool with them: a restart regroups nothing.

Decides what is the same burst and when it ends. It must not know files, spools or any clock but the records'.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agent.parsers.sighting import Sighting
from policies.contract.events import FaultEvent

WINDOW_MICROSECONDS = 10 * 1_000_000
# More open bursts than a node has parts times codes: beyond it somebody writes rubbish, and the oldest ends early.
MAX_BURSTS = 256
# What tells two faults of one component apart; everything else may differ within a burst (a process, an address).
_IDENTIFYING = (
    *("xid", "sxid", "subcode", "link", "fatal", "recovery_action", "gpu_instance", "compute_instance"),
    *("device", "server", "module", "resource"),
)
# Where the process is the fault itself, two processes are two bursts.
_BY_PROCESS = ("host", "process", "container")


@dataclass(frozen=True, slots=True)
class Seen:
    """A sighting with its record: ``cursor`` names it, ``ticks`` is its own time in microseconds."""

    sighting: Sighting
    cursor: str
    ticks: int
    at: datetime
    message: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Burst:
    started: int
    more: FaultEvent | None = None  # the records since the first, not yet told

    def holds(self, ticks: int) -> bool:
        """Tell whether a record of this time belongs here; a time far before it is another boot's."""
        return self.started - WINDOW_MICROSECONDS < ticks < self.started + WINDOW_MICROSECONDS


def burst_key(sighting: Sighting) -> str:
    """Return the name of the burst that *sighting* belongs to."""
    names = (*_IDENTIFYING, "pid") if sighting.kind.partition(".")[0] in _BY_PROCESS else _IDENTIFYING
    parts = [f"{name}={sighting.attributes[name]}" for name in names if name in sighting.attributes]
    return "|".join([sighting.kind, sighting.component.key if sighting.component else "", *parts])


class Coalescer:
    """The open bursts of one source. *make_event* turns what was seen into an event of count 1."""

    def __init__(self, make_event: Callable[[Seen], FaultEvent], stored: Mapping[str, Any] | None = None) -> None:
        """Go on with the bursts that `changes` told before."""
        self._make_event = make_event
        self._bursts = {key: _load(burst) for key, burst in (stored or {}).items()}
        self._changed: set[str] = set()

    @property
    def latest(self) -> int:
        """The start of the youngest open burst, 0 without any."""
        return max((burst.started for burst in self._bursts.values()), default=0)

    def take(self, seen: Seen) -> list[FaultEvent]:
        """Return the events to tell now that *seen* is seen: those of windows that it ends, and perhaps its own."""
        told = self.elapse(seen.ticks)
        key = burst_key(seen.sighting)
        burst = self._bursts.get(key)
        event = self._make_event(seen)
        self._changed.add(key)
        if burst is None:
            told += self._make_room()
            self._bursts[key] = _Burst(seen.ticks)
            return [*told, event]
        self._bursts[key] = replace(burst, more=_add(burst.more, event))
        return told

    def elapse(self, ticks: int) -> list[FaultEvent]:
        """Return the deltas of the windows that do not hold the time *ticks* any more, and end them."""
        return [event for key, burst in [*self._bursts.items()] if not burst.holds(ticks) for event in self._end(key)]

    def flush(self) -> list[FaultEvent]:
        """Return all deltas now; their windows stay open, so that what follows still counts to them."""
        told: list[FaultEvent] = []
        for key, burst in self._bursts.items():
            if burst.more is not None:
                told.append(burst.more)
                self._bursts[key] = replace(burst, more=None)
                self._changed.add(key)
        return told

    def changes(self) -> dict[str, Any]:
        """Return the bursts that changed since the last call, as JSON; None for one that ended."""
        changed = {key: _dump(self._bursts.get(key)) for key in sorted(self._changed)}
        self._changed.clear()
        return changed

    def _end(self, key: str) -> list[FaultEvent]:
        self._changed.add(key)
        more = self._bursts.pop(key).more
        return [more] if more else []

    def _make_room(self) -> list[FaultEvent]:
        if len(self._bursts) < MAX_BURSTS:
            return []
        return self._end(min(self._bursts, key=lambda key: self._bursts[key].started))


def _add(more: FaultEvent | None, event: FaultEvent) -> FaultEvent:
    if more is None:
        return event
    severity = max(more.severity, event.severity, key=lambda severity: severity.rank)
    return more.model_copy(update={"count": more.count + 1, "observed_at": event.observed_at, "severity": severity})


def _dump(burst: _Burst | None) -> dict[str, Any] | None:
    if burst is None:
        return None
    more = burst.more.model_dump(mode="json", exclude_none=True) if burst.more else None
    return {"started": burst.started, "more": more}


def _load(stored: Mapping[str, Any]) -> _Burst:
    more = stored["more"]
    return _Burst(int(stored["started"]), FaultEvent.model_validate(more) if more else None)
