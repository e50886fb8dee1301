"""What the answers of EC2 and Auto Scaling come to for one cluster: pure.

Decides what counts. A spare is an instance of a warm pool that has been prepared; whether a node in service stands idle
nobody tells the sweep, so that idle ones are not among the spares. A free slot is one of a reservation of the cluster
that goes on for long enough. A part that nobody answered leaves its members unknown. Whose place something can take is
`capacity_types.py`'s. It must not ask anybody.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from functions.ports.capacity import Reservation, Room
from functions.sweep.capacity_types import Answers, kinds_of, narrowed
from policies.facts.capacity import Available, Capacity

# EC2 begins to terminate the instances of a Capacity Block 30 minutes before its end, of one of UltraServers 60 (EC2
# user guide, "Capacity Blocks for ML"): what would be launched into it by then is of no use.
LAST_HOUR = timedelta(hours=1)


def judge(answers: Answers, at: datetime) -> Capacity:
    """Return the document that *answers*, gathered *at* that moment, come to."""
    by_type = {kind: Available(**_sums(narrowed(answers, kind), at)) for kind in kinds_of(answers)}
    return Capacity(at=at, unknown=answers.unknown, by_type=by_type, **_sums(answers, at))


def _sums(answers: Answers, at: datetime) -> dict[str, Any]:
    """Return what *answers* add up to, as fields of a document."""
    newest = max(answers.refusals.values(), key=lambda one: one.at, default=None)
    rooms, reserved = answers.rooms, answers.reservations
    return {
        "spares": _spares(answers),
        "reserved": None if reserved is None else sum(each.slots for each in reserved),
        "reserved_free": None if reserved is None else sum(each.free for each in reserved if not _ends(each, at)),
        "headroom": None if rooms is None else sum(max(0, each.most - each.wanted) for each in rooms),
        "refused_at": newest.at if newest else None,
        "refused": newest.why if newest else "",
    }


def _spares(answers: Answers) -> int | None:
    """Return how many there are, None where a group of those asked gave no answer."""
    if answers.warm is None:
        return None
    told = [each for each in answers.warm.values() if each is not None]
    return sum(sum(each.values()) for each in told) if len(told) == len(answers.warm) else None


def surely_of(reservation: Reservation, cluster: str, rooms: Iterable[Room]) -> bool | None:
    """Whether *reservation* is the cluster's: by its tag, or since a group names it; None when neither tells."""
    if reservation.cluster:
        return reservation.cluster == cluster
    return True if reservation.id in _named(rooms) else None


def _named(rooms: Iterable[Room]) -> Collection[str]:
    return {name for room in rooms for name in room.reservations}


def _ends(reservation: Reservation, at: datetime) -> bool:
    return reservation.ends_at is not None and reservation.ends_at - at < LAST_HOUR
