"""Sends what waits: one envelope at a time, in order, until a lane has acknowledged it.

Decides when to try Kinesis again (full jitter, so that a fleet does not come back as one), when severe events go
through the overflow queue, and when silence deserves a heartbeat. An answer lost after acceptance means sending again:
both lanes may deliver the same seq, and receivers know seqs. It must not know parsers or AWS.

Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015 (full jitter).
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agent.envelopes import EVENTS_BYTES, EnvelopeMaker
from agent.lanes import EnvelopeLane
from agent.spool.spool import Batch, Spool
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import Severity

log = logging.getLogger(__name__)

_BASE_SECONDS, _CAP_SECONDS = 0.1, 10.0
_LONGEST_WAIT, _SHORTEST_WAIT = 60.0, 0.001
_LOG_AGAIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How the publisher goes, in seconds; see the settings of the same names."""

    heartbeat: float = 30.0
    overflow_after: float = 3.0
    linger: float = 0.005


@dataclass(frozen=True, slots=True)
class Clocks:
    """``wall`` dates envelopes, ``monotonic`` (seconds) paces them: a wall clock set back must not silence us."""

    wall: Callable[[], datetime]
    monotonic: Callable[[], float]


@dataclass(frozen=True, slots=True)
class LaneState:
    """How a lane is. Times are of the monotonic clock; None: it never put anything, it does not refuse."""

    name: str
    last_put: float | None
    refusing_since: float | None
    tries: int
    error: str


@dataclass(slots=True)
class _Outlet:
    """A lane, when it may be tried and since when it refuses."""

    name: str
    lane: EnvelopeLane
    tries: int = 0
    next_try: float = 0.0
    refusing_since: float | None = None
    told_at: float | None = None
    last_put: float | None = None
    error: str = ""

    def refused(self, now: float, jitter: float, error: DependencyError) -> None:
        """Wait up to twice as long as the last time before the next try."""
        if self.refusing_since is None:
            self.refusing_since = now
        self.error = str(error)
        self.next_try = now + jitter * min(_CAP_SECONDS, _BASE_SECONDS * 2.0 ** min(self.tries, 16))
        self.tries += 1
        if self.told_at is None or now - self.told_at >= _LOG_AGAIN_SECONDS:
            self.told_at = now
            log.warning("lane refuses", extra={"lane": self.name, "error": str(error), "tries": self.tries})

    def accepted(self, now: float) -> None:
        """Forget that it ever refused."""
        self.last_put, self.error = now, ""
        if self.told_at is not None:
            log.warning("lane accepts again", extra={"lane": self.name, "tries": self.tries})
        self.tries, self.next_try, self.refusing_since, self.told_at = 0, 0.0, None, None


class Publisher:
    """One thread's work: `run` until told to stop, then `drain`."""

    def __init__(
        self,
        spool: Spool,
        envelopes: EnvelopeMaker,
        *,
        kinesis: EnvelopeLane,
        overflow: EnvelopeLane | None,
        pace: Pace,
        clocks: Clocks,
        jitter: Callable[[], float],
        jobs: Callable[[], bytes] = bytes,
    ) -> None:
        """Send what *spool* holds; *jitter* gives numbers from 0 to 1, *jobs* what is said of jobs about now."""
        self._spool = spool
        self._envelopes = envelopes
        self._kinesis = _Outlet("kinesis", kinesis)
        self._overflow = _Outlet("overflow", overflow) if overflow else None
        self._pace = pace
        self._overflow_after = pace.overflow_after
        self._clocks = clocks
        self._jitter = jitter
        self._jobs = jobs
        self._heartbeat_at = self._jobs_at = clocks.monotonic()
        self.alive_at = clocks.monotonic()  # when it last did what was due: what the watchdog goes by

    def run(self, stop: threading.Event) -> None:
        """Send until *stop*."""
        seen = -1
        while not stop.is_set():
            wait = self.step()
            if wait <= 0:
                continue
            before, seen = seen, self._spool.wait(seen, wait)
            if seen != before and self._pace.linger:
                stop.wait(self._pace.linger)

    def drain(self, seconds: float) -> int:
        """Send for up to *seconds* what can be sent, severe events by any lane; return how many events still wait."""
        self._overflow_after = 0.0
        deadline = self._clocks.monotonic() + seconds
        while self._spool.waiting and (left := deadline - self._clocks.monotonic()) > 0:
            wait = self.step(heartbeat=False)
            if wait > 0:
                self._spool.wait(self._spool.wait(-1, 0), min(wait, left))
        return self._spool.waiting

    def step(self, *, heartbeat: bool = True) -> float:
        """Do what is due now; return for how many seconds nothing is, unless something is appended."""
        now = self.alive_at = self._clocks.monotonic()
        if now >= self._kinesis.next_try and self._send_all(now, heartbeat=heartbeat):
            return 0.0
        if self._overflow and self._overflow_opens(now) and self._send_severe(self._overflow, now):
            return 0.0
        return self._until_due(self._clocks.monotonic())

    def lanes(self) -> list[LaneState]:
        """Return how each lane is; what it reads may change meanwhile, and only informs."""
        outlets = [self._kinesis, *([self._overflow] if self._overflow else [])]
        return [LaneState(one.name, one.last_put, one.refusing_since, one.tries, one.error) for one in outlets]

    def _send_all(self, now: float, *, heartbeat: bool) -> bool:
        spool_id, next_seq = self._spool.heartbeat  # before taking: what comes in between is not promised as sent
        batch = self._spool.take(EVENTS_BYTES)
        if batch is not None:
            return self._send(self._kinesis, batch)
        due = heartbeat and now >= self._heartbeat_at
        return due and self._put(self._kinesis, Batch(spool_id, ()), next_seq)

    def _overflow_opens(self, now: float) -> bool:
        since = self._kinesis.refusing_since
        return since is not None and now - since >= self._overflow_after

    def _send_severe(self, overflow: _Outlet, now: float) -> bool:
        if now < overflow.next_try:
            return False
        batch = self._spool.take(EVENTS_BYTES, min_rank=Severity.ERROR.rank)
        return batch is not None and self._send(overflow, batch)

    def _send(self, outlet: _Outlet, batch: Batch) -> bool:
        sent = False
        try:
            sent = self._put(outlet, batch, batch.events[0].seq)
        finally:
            if not sent:
                self._spool.release(batch)
        if sent:
            self._spool.acknowledge(batch)
        return sent

    def _put(self, outlet: _Outlet, batch: Batch, first_seq: int) -> bool:
        jobs = self._jobs() if outlet is self._kinesis and self._clocks.monotonic() >= self._jobs_at else b""
        body = self._envelopes.make(batch.spool_id, first_seq, batch.events, self._clocks.wall(), jobs)
        try:
            outlet.lane.put(body, self._envelopes.node.instance_id)
        except DependencyError as error:
            outlet.refused(self._clocks.monotonic(), self._jitter(), error)
            return False
        outlet.accepted(self._clocks.monotonic())
        if outlet is self._kinesis:
            self._heartbeat_at = self._clocks.monotonic() + self._pace.heartbeat
            if jobs:  # with each heartbeat, and now and then where events leave none to be sent
                self._jobs_at = self._clocks.monotonic() + self._pace.heartbeat / 2
        return True

    def _until_due(self, now: float) -> float:
        """Return the seconds until the next moment at which time alone makes something due."""
        something = 0.0 if self._spool.waiting else self._heartbeat_at
        moments = [max(self._kinesis.next_try, something, now + _SHORTEST_WAIT)]
        if self._overflow and self._kinesis.refusing_since is not None:
            moments += [self._kinesis.refusing_since + self._overflow_after, self._overflow.next_try]
        soonest = min(moment for moment in moments if moment > now)
        return min(_LONGEST_WAIT, max(_SHORTEST_WAIT, soonest - now))
