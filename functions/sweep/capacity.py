"""What the answers of EC2 and Auto Scaling come to for one cluster: pure.

Decides what counts. A spare is an instance of a warm pool that has been prepared; whether a node in service stands idle
nobody tells the sweep, so that idle ones are not among the spares. A free slot is one of a reservation of the cluster
that goes on for long enough. A part that nobody answered leaves its members unknown. It must not ask anybody.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from functions.ports.capacity import Refusal, Reservation, Room
from policies.facts.capacity import Capacity

# EC2 begins to terminate the instances of a Capacity Block 30 minutes before its end, of one of UltraServers 60 (EC2
# user guide, "Capacity Blocks for ML"): what would be launched into it by then is of no use.
LAST_HOUR = timedelta(hours=1)


@dataclass
class Answers:
    """What was found out, None where nobody answered; ``unknown`` says why, by field of the document."""

    rooms: Sequence[Room] | None = None
    warm: int | None = None
    refusals: Sequence[Refusal] = ()
    reservations: Sequence[Reservation] | None = None  # of this cluster
    unknown: dict[str, str] = field(default_factory=dict)


def judge(answers: Answers, at: datetime) -> Capacity:
    """Return the document that *answers*, gathered *at* that moment, come to."""
    newest = max(answers.refusals, key=lambda one: one.at, default=None)
    reserved = answers.reservations
    return Capacity(
        at=at,
        spares=answers.warm,
        reserved=None if reserved is None else sum(each.slots for each in reserved),
        reserved_free=None if reserved is None else sum(each.free for each in reserved if not _ends(each, at)),
        headroom=None if answers.rooms is None else sum(max(0, each.most - each.wanted) for each in answers.rooms),
        refused_at=newest.at if newest else None,
        refused=newest.why if newest else "",
        unknown=answers.unknown,
    )


def surely_of(reservation: Reservation, cluster: str, rooms: Iterable[Room]) -> bool | None:
    """Whether *reservation* is the cluster's: by its tag, or since a group names it; None when neither tells."""
    if reservation.cluster:
        return reservation.cluster == cluster
    return True if reservation.id in _named(rooms) else None


def _named(rooms: Iterable[Room]) -> Collection[str]:
    return {name for room in rooms for name in room.reservations}


def _ends(reservation: Reservation, at: datetime) -> bool:
    return reservation.ends_at is not None and reservation.ends_at - at < LAST_HOUR
