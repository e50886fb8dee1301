"""What the agent says of itself: one JSON object, from what its parts say.

Decides what is well: the main loops go on. A lane that refuses, or a source that fails, is said and is no reason to
begin the agent again: it would change nothing, and lose what is only in memory. It must not know sockets.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent.publisher import LaneState
from agent.spool.spool import Spool
from agent.status.board import Board
from agent.vitals import Vital, Vitals
from policies.contract.envelope import NodeIdentity

STALLED_SECONDS = 120.0  # a loop waits for at most a minute, and a put has its deadlines
Json = dict[str, Any]


@dataclass(slots=True)
class Loops:
    """When each main loop last went round, on the clock of *ticks*."""

    ticks: Callable[[], float]
    _last: dict[str, Callable[[], float]] = field(default_factory=dict)

    def watch(self, name: str, last: Callable[[], float]) -> None:
        """Hold *name* to what *last* returns: when it last went round."""
        self._last[name] = last

    def stalled(self) -> list[str]:
        """Return the loops that stand still."""
        now = self.ticks()
        return [name for name, last in self._last.items() if now - last() > STALLED_SECONDS]


@dataclass(frozen=True, slots=True)
class Reporter:
    """Puts the report together. ``ticks`` is the clock of lanes and loops, ``since_boot`` that of the vitals."""

    version: str
    node: NodeIdentity
    vitals: Vitals
    spool: Spool
    lanes: Callable[[], list[LaneState]]
    board: Board
    loops: Loops
    ticks: Callable[[], float]
    since_boot: Callable[[], float]
    started: float
    driver: Callable[[], str] = str

    def report(self) -> Json:
        """Return all of it."""
        now = self.ticks()
        return {
            "version": self.version,
            "node": {**self.node.model_dump(mode="json"), "driver_version": self.driver() or self.node.driver_version},
            "uptime_seconds": round(now - self.started, 1),
            "healthy": not self.loops.stalled(),
            "stalled": self.loops.stalled(),
            "sources": self.sources(),
            "spool": {
                "waiting": self.spool.waiting,
                "bytes": self.spool.bytes_waiting,
                "on_disk": self.spool.on_disk,
                "spool_id": self.spool.heartbeat[0],
                "next_seq": self.spool.heartbeat[1],
            },
            "lanes": [_lane(one, now) for one in self.lanes()],
            **self.board.all(),
        }

    def sources(self) -> list[Json]:
        """Return each source's vital."""
        now = self.since_boot()
        return [_source(one, now) for one in self.vitals.all()]


def _source(one: Vital, now: float) -> Json:
    told: Json = {"name": one.name, "state": one.state, "seconds": round(now - one.since, 1)}
    if one.note:
        told["note"] = one.note
    if one.failures:
        told["failures"] = one.failures
    if one.measured_at is not None:
        told["measured_seconds_ago"] = round(now - one.measured_at, 1)
    if one.due is not None and one.began is not None and now > one.due:
        told |= {"state": "hung", "hung_seconds": round(now - one.began, 1)}
    return told


def _lane(one: LaneState, now: float) -> Json:
    return {
        "name": one.name,
        "last_put_seconds_ago": None if one.last_put is None else round(now - one.last_put, 1),
        "refusing_seconds": None if one.refusing_since is None else round(now - one.refusing_since, 1),
        "tries": one.tries,
        "error": one.error,
    }
