"""The list: what lies where, since when, and why.

Decides how rejects are summed up (by reason, newest first). It must not print.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from console.dlq.finding import dead_queues
from console.dlq.model import DeadQueue, Dropped, Stack
from console.dlq.ports import DroppedBatches, Queues, Redrives
from functions.ports.triage import RejectStore, RejectSummary

MOST_REJECTS_A_DAY = 10_000


@dataclass(frozen=True)
class ReasonCount:
    """Rejects of one reason. ``redriven`` of ``count`` were sent again."""

    reason: str
    hint: str
    count: int
    redriven: int
    newest: RejectSummary


@dataclass(frozen=True)
class Overview:
    """Everything that rests somewhere. ``days`` is how far back rejects were looked for."""

    queues: Sequence[DeadQueue]
    reasons: Sequence[ReasonCount]
    failures: Sequence[Dropped]
    failures_redriven: int
    days: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits for anybody."""
        waiting = sum(queue.state.depth + queue.state.in_flight for queue in self.queues)
        unsent = sum(one.count - one.redriven for one in self.reasons) + len(self.failures) - self.failures_redriven
        return waiting + unsent == 0


@dataclass(frozen=True)
class Looker:
    """Reads; never writes."""

    stack: Stack
    queues: Queues
    rejects: RejectStore
    dropped: DroppedBatches
    redrives: Redrives
    clock: Callable[[], datetime]

    def overview(self, days: int) -> Overview:
        """Look everywhere."""
        queues = [replace(one, oldest=self.queues.oldest(one.state)) for one in dead_queues(self.stack, self.queues)]
        rejects = self.list_rejects(days)
        sent = self.redrives.times([one.id for one in rejects])
        failures = self.dropped.list()
        failures_sent = self.redrives.times([one.key for one in failures])
        return Overview(queues, by_reason(rejects, sent), failures, len(failures_sent), days)

    def list_rejects(self, days: int) -> Sequence[RejectSummary]:
        """Return the rejects of the last *days* days (UTC), newest first."""
        return [one for day in self.days_back(days) for one in self.rejects.list(day, MOST_REJECTS_A_DAY)]

    def days_back(self, days: int) -> Sequence[date]:
        """Return today and the days before, *days* in all."""
        today = self.clock().date()
        return [today - timedelta(days=back) for back in range(days)]


def by_reason(rejects: Sequence[RejectSummary], sent: Mapping[str, datetime]) -> Sequence[ReasonCount]:
    """Return one line a reason, that of the newest reject first."""
    groups: dict[str, list[RejectSummary]] = {}
    for one in sorted(rejects, key=lambda one: one.arrived_at, reverse=True):
        groups.setdefault(one.reason, []).append(one)
    return [
        ReasonCount(reason, found[0].hint, len(found), sum(one.id in sent for one in found), found[0])
        for reason, found in groups.items()
    ]
