"""A burst is told twice: its first record at once, then how many more there were.

A broken GPU prints the same line thousands of times. The first record of a (kind, component, code) opens a window of
ten seconds by the records' own times and goes out as it is; those that follow within it become one *delta*, whose count
adds to the first. A storm (ten records in a window) goes on in a window of twice the length, up to a minute, in which
nothing goes at once. Ids come from the first record each event stands for. So who reads the same records from the same
state makes the same events, and the state goes into the spool with them: a restart regroups nothing.

Deltas are told in the order of their last records: a port that flaps is up at last if its last word was up. Decides
what is the same burst and when it ends. It must not know files, spools or any clock but the records'.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agent.parsers.sighting import Sighting
from policies.contract.events import Component, FaultEvent, Scalar
from policies.contract.vocabulary import Severity

WINDOW_MICROSECONDS = 10 * 1_000_000
# More open bursts than a node has parts times codes: beyond it somebody writes rubbish, and the oldest ends early.
MAX_BURSTS = 256
# More than 8 GPUs times 18 links: a kind with more bursts than that is told as one, of no part in particular.
MAX_BURSTS_A_KIND = 160
_STORM_RECORDS = 10
_LONGEST_WINDOWS = 6  # 60 s
# What tells two faults of one component apart; everything else may differ within a burst (a process, an address).
_IDENTIFYING = (
    *("xid", "sxid", "subcode", "link", "fatal", "recovery_action", "gpu_instance", "compute_instance"),
    *("device", "server", "remote", "module", "resource", "unit", "container", "pod", "step_id"),
    *("reason", "of", "by"),  # of a gap
    "event",  # of what EC2 scheduled
    *("rank", "after"),  # of a training process
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


@dataclass(slots=True)
class _Delta:
    """The records of a window since the last that was told: the first as an event, and what the later ones change."""

    first: FaultEvent
    count: int
    observed_at: datetime
    severity: Severity
    lost: int | None  # of gaps: each says how many records are missing

    def add(self, seen: Seen) -> None:
        """Count *seen* too. A storm comes here a hundred thousand times a second, so no event is made of it."""
        self.count += 1
        self.observed_at = seen.at
        if seen.sighting.severity.rank > self.severity.rank:
            self.severity = seen.sighting.severity
        if self.lost is not None:
            self.lost += _lost(seen.sighting.attributes) or 0

    def event(self) -> FaultEvent:
        """Return the delta as it is told."""
        changed: dict[str, Any] = {"count": self.count, "observed_at": self.observed_at, "severity": self.severity}
        if self.lost is not None:
            changed["attributes"] = {**self.first.attributes, "lost": self.lost}
        return self.first.model_copy(update=changed)


@dataclass(frozen=True, slots=True)
class _Burst:
    started: int
    windows: int = 1  # its length, in windows
    more: _Delta | None = None

    @property
    def ends(self) -> int:
        return self.started + self.windows * WINDOW_MICROSECONDS

    def holds(self, ticks: int) -> bool:
        """Tell whether a record of this time belongs here; a time far before it is another boot's."""
        return self.started - WINDOW_MICROSECONDS < ticks < self.ends

    def follower(self, ticks: int) -> "_Burst | None":
        """Return the window that goes on after this one, if it was a storm and *ticks* is not behind that too."""
        if self.more is None or self.more.count < _STORM_RECORDS or ticks < self.ends:
            return None
        after = _Burst(self.ends, min(2 * self.windows, _LONGEST_WINDOWS))
        return after if after.holds(ticks) else None


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
        self._calm: tuple[int, int] | None = None  # between these times no window ends

    @property
    def latest(self) -> int:
        """The start of the youngest open burst, 0 without any."""
        return max((burst.started for burst in self._bursts.values()), default=0)

    def take(self, seen: Seen) -> list[FaultEvent]:
        """Return the events to tell now that *seen* is seen: those of windows that it ends, and perhaps its own."""
        told = self.elapse(seen.ticks)
        key = burst_key(seen.sighting)
        if key not in self._bursts and self._is_crowded(seen.sighting.kind):
            seen = _folded(seen)
            key = burst_key(seen.sighting)
        burst = self._bursts.get(key)
        self._changed.add(key)
        if burst is None:
            told += self._make_room()
            self._bursts[key] = _Burst(seen.ticks)
            self._calm = None
            return [*told, self._make_event(seen)]
        if burst.more is not None:
            burst.more.add(seen)
        else:
            self._bursts[key] = replace(burst, more=_delta(self._make_event(seen)))
        return told

    def elapse(self, ticks: int) -> list[FaultEvent]:
        """Return the deltas of the windows that do not hold the time *ticks* any more, and end them."""
        if self._calm is None:
            bursts = self._bursts.values()
            begun = max((burst.started for burst in bursts), default=0) - WINDOW_MICROSECONDS
            self._calm = begun, min((burst.ends for burst in bursts), default=0)
        if self._calm[0] < ticks < self._calm[1]:
            return []  # as for nearly every record
        over = [key for key, burst in self._bursts.items() if not burst.holds(ticks)]
        return _in_order(event for key in over for event in self._end(key, ticks))

    def flush(self) -> list[FaultEvent]:
        """Return all deltas now; their windows stay open, so that what follows still counts to them."""
        told: list[FaultEvent] = []
        for key, burst in self._bursts.items():
            if burst.more is not None:
                told.append(burst.more.event())
                self._bursts[key] = replace(burst, more=None)
                self._changed.add(key)
        return _in_order(told)

    def changes(self) -> dict[str, Any]:
        """Return the bursts that changed since the last call, as JSON; None for one that ended."""
        changed = {key: _dump(self._bursts.get(key)) for key in sorted(self._changed)}
        self._changed.clear()
        return changed

    def _end(self, key: str, ticks: int | None = None) -> list[FaultEvent]:
        """End a window at *ticks*; None: for want of room."""
        self._changed.add(key)
        self._calm = None
        burst = self._bursts.pop(key)
        after = burst.follower(ticks) if ticks is not None else None
        if after is not None:
            self._bursts[key] = after
        return [burst.more.event()] if burst.more else []

    def _is_crowded(self, kind: str) -> bool:
        prefix = f"{kind}|"
        return len(self._bursts) >= MAX_BURSTS_A_KIND <= sum(key.startswith(prefix) for key in self._bursts)

    def _make_room(self) -> list[FaultEvent]:
        if len(self._bursts) < MAX_BURSTS:
            return []
        return self._end(min(self._bursts, key=lambda key: (self._bursts[key].started, key)))


def _folded(seen: Seen) -> Seen:
    """Return *seen* as one of many: of a kind, and of no part, process or code in particular."""
    component = seen.sighting.component
    whole = Component(type=component.type) if component else None
    return replace(seen, sighting=replace(seen.sighting, component=whole, attributes={"folded": True}))


def _in_order(events: Iterable[FaultEvent]) -> list[FaultEvent]:
    return sorted(events, key=lambda event: (event.observed_at, event.first_observed_at, event.id))


def _delta(event: FaultEvent) -> _Delta:
    return _Delta(event, event.count, event.observed_at, event.severity, _lost(event.attributes))


def _lost(attributes: Mapping[str, Scalar]) -> int | None:
    lost = attributes.get("lost")
    return lost if isinstance(lost, int) else None


def _dump(burst: _Burst | None) -> dict[str, Any] | None:
    if burst is None:
        return None
    more = burst.more.event().model_dump(mode="json", exclude_none=True) if burst.more else None
    return {"started": burst.started, "windows": burst.windows, "more": more}


def _load(stored: Mapping[str, Any]) -> _Burst:
    more = stored["more"]
    windows = int(stored.get("windows", 1))  # a spool of an older agent does not say
    return _Burst(int(stored["started"]), windows, _delta(FaultEvent.model_validate(more)) if more else None)
