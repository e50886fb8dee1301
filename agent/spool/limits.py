"""What a spool gives up when there is no room or no use for it: the least severe first, the oldest first of these.

It must not know files or locks.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from agent.spool.state import WaitingEvent
from policies.contract.vocabulary import Kind

# One sixteenth of the room is made at a time, so that a full spool does not report every single loss.
_SLACK = 16
_REPORT = Kind.PIPELINE_OVERFLOWED.value.encode()


@dataclass(frozen=True, slots=True)
class SpoolLimits:
    """How much a spool keeps, and how long. Older than the stream's retention (72 h) informs nobody."""

    max_bytes: int = 8 * 1024 * 1024
    max_age: timedelta = timedelta(hours=72)

    @property
    def waiting_bytes(self) -> int:
        """How much of the file may be events that wait; the rest is room for lines until the next rewrite."""
        return self.max_bytes * 3 // 4


@dataclass(frozen=True, slots=True)
class Loss:
    """Events given up. For ``damaged``, the count is of lines, and the range is of seqs that may have stood in them."""

    reason: Literal["full", "too_old", "damaged"]
    count: int
    first_seq: int
    last_seq: int


def excess_events(events: Iterable[WaitingEvent], total: int, limits: SpoolLimits) -> list[WaitingEvent]:
    """Return those of *events* that go, given that all that wait take *total* bytes."""
    if total <= limits.waiting_bytes:
        return []
    excess = total - limits.waiting_bytes + limits.waiting_bytes // _SLACK
    victims: list[WaitingEvent] = []
    for event in sorted(events, key=lambda event: (event.rank, event.seq)):
        if excess <= 0:
            break
        victims.append(event)
        excess -= len(event.body)
    return victims


def expired_events(events: Iterable[WaitingEvent], now: datetime, limits: SpoolLimits) -> list[WaitingEvent]:
    """Return those of *events*, in the order they came in, that are too old."""
    oldest = (now - limits.max_age).timestamp()
    victims: list[WaitingEvent] = []
    for event in events:
        if event.at >= oldest:
            break
        victims.append(event)
    return victims


def loss_of(reason: Literal["full", "too_old"], victims: Sequence[WaitingEvent]) -> Loss:
    """Return what losing *victims*, at least one, is; where reports of earlier losses go too, this one includes them.

    Else the last report of a long outage would tell of the last losses only.
    """
    losses = [_as_loss(event) for event in victims]
    first, last = min(loss.first_seq for loss in losses), max(loss.last_seq for loss in losses)
    return Loss(reason, sum(loss.count for loss in losses), first, last)


def _as_loss(victim: WaitingEvent) -> Loss:
    if _REPORT in victim.body:
        event = json.loads(victim.body)
        told = event["attributes"]
        if event["kind"] == Kind.PIPELINE_OVERFLOWED and {"lost", "first_seq"} <= told.keys():
            return Loss("full", told["lost"] + 1, min(told["first_seq"], victim.seq), max(victim.seq, told["last_seq"]))
    return Loss("full", 1, victim.seq, victim.seq)
