"""Which faults are worth evidence by themselves: what may kill the run, once an occurrence, a few an hour.

Decides only that; the collecting is another's. Events come from every source's thread and are never held up: they go
into a short list, and one thread takes from it. It must not know parts or S3.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.evidence.request import Evidence, EvidenceRequest
from policies.contract.events import FaultEvent
from policies.contract.vocabulary import Kind, Severity

log = logging.getLogger(__name__)

_EVENTS_KEPT = 500
_WAITING_AT_MOST = 8
_OCCURRENCE_SECONDS = 3600.0
_STEP_SECONDS = 1.0
_HISTORY = timedelta(minutes=10)  # a log that is read from its beginning tells of what is long over
# PyTorch's watchdog first says that a collective timed out and then lets each rank write its flight recorder
# (ProcessGroupNCCL.cpp: TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC, 15 s; dumps take well under a second).
_SETTLE_SECONDS = 3.0
_WRITES_DUMPS = frozenset({Kind.TRAINING_COLLECTIVE_TIMEOUT, Kind.TRAINING_DESYNCHRONISED})
# Below critical, and yet the state is gone with the process: whoever answers will suspend or restart the run.
_WORTH_IT = frozenset({
    Kind.TRAINING_COLLECTIVE_TIMEOUT, Kind.TRAINING_DESYNCHRONISED, Kind.TRAINING_STALLED, Kind.PROCESS_HUNG,
    Kind.GPU_DRIVER_HUNG, Kind.GPU_LOST,
})  # fmt: skip
# Told of what another kernel, or another agent, saw: there is nothing left to collect.
_OLD_NEWS = ("before_boot", "ongoing")


def is_fatal(event: FaultEvent) -> bool:
    """Tell whether *event* is worth evidence."""
    if any(event.attributes.get(name) for name in _OLD_NEWS) or event.kind.startswith("pipeline."):
        return False
    if event.kind in _WORTH_IT:
        return event.severity.rank >= Severity.ERROR.rank
    return event.severity is Severity.CRITICAL


def occurrence_of(event: FaultEvent) -> str:
    """Return what companions of one fault share."""
    told = event.attributes.get("occurrence")
    if told:
        return str(told)
    part = event.component.key if event.component else ""
    return f"{event.kind}|{part}|{event.attributes.get('xid', '')}"


@dataclass(frozen=True, slots=True)
class _Wanted:
    event: FaultEvent
    at: float


class FaultWatch:
    """`hear` from any thread; `run` is one thread's work."""

    def __init__(
        self, evidence: Evidence, per_hour: int, *, clock: Callable[[], datetime], ticks: Callable[[], float]
    ) -> None:
        """Ask *evidence*, at most *per_hour* times; *ticks* are seconds of a clock that never goes back."""
        self._evidence, self._per_hour, self._clock, self._ticks = evidence, per_hour, clock, ticks
        self._wanted: deque[_Wanted] = deque(maxlen=_WAITING_AT_MOST)
        self._seen: dict[str, float] = {}
        self._begun: deque[float] = deque()
        self._new = threading.Event()
        self._lock = threading.Lock()
        self.left_out = 0

    def hear(self, events: Sequence[FaultEvent]) -> None:
        """Take note of what is fatal among *events*; returns at once."""
        now = self._ticks()
        since = self._clock() - _HISTORY
        for event in events:
            if event.observed_at >= since and is_fatal(event) and self._is_new(occurrence_of(event), now):
                self._wanted.append(_Wanted(event, now))
                self._new.set()

    def run(self, stop: threading.Event) -> None:
        """Collect until *stop*."""
        while not stop.is_set():
            if self._new.wait(_STEP_SECONDS):
                self._new.clear()
                self.step(stop)

    def step(self, stop: threading.Event) -> None:
        """Collect for what was heard."""
        while self._wanted and not stop.is_set():
            wanted = self._wanted.popleft()
            if wanted.event.kind in _WRITES_DUMPS:
                stop.wait(max(0.0, wanted.at + _SETTLE_SECONDS - self._ticks()))
            if self._may_begin():
                self._evidence.collect(_request(wanted.event))

    def _is_new(self, occurrence: str, now: float) -> bool:
        with self._lock:
            self._seen = {key: at for key, at in self._seen.items() if now - at < _OCCURRENCE_SECONDS}
            new = occurrence not in self._seen
            self._seen[occurrence] = now
            return new

    def _may_begin(self) -> bool:
        now = self._ticks()
        while self._begun and now - self._begun[0] >= _OCCURRENCE_SECONDS:
            self._begun.popleft()
        if len(self._begun) >= self._per_hour:
            self.left_out += 1
            if self._per_hour:
                log.warning("no evidence: enough was collected this hour", extra={"per_hour": self._per_hour})
            return False
        self._begun.append(now)
        return True


def _request(event: FaultEvent) -> EvidenceRequest:
    at = event.component.key if event.component else "the node"
    return EvidenceRequest(event.id, reason=f"{event.kind} on {at}")


class RecentEvents:
    """What the agent told last, a line each: it says what led to the fault, in order."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._lines: deque[FaultEvent] = deque(maxlen=_EVENTS_KEPT)

    def hear(self, events: Sequence[FaultEvent]) -> None:
        """Keep *events*."""
        self._lines.extend(events)

    def lines(self) -> Iterable[str]:
        """Return them as JSON, the oldest first."""
        return [event.to_json() for event in list(self._lines)]
