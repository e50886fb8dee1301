"""How to count, and what a count came to: the numbers of a policy, and the window in which it happened often enough.

Decides how much a stretch of time holds by those numbers, and how far back it is remembered. It must not remember
anything itself.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from policies.lasting import MOST_LASTING
from policies.occurrences import Point, firsts_of, starts_of

LATENESS_MS = 15 * 60_000  # what came later than this neither fits an old window nor justifies an act by itself
QUANTA = 4  # points kept of one occurrence
SPARE_OCCURRENCES = 8
KEPT_POINTS = 64  # where no occurrences are counted, of one component or node


@dataclass(frozen=True)
class Measure:
    """How to count, in milliseconds. ``occurrence`` 0: the counts add up. ``distinct``: different values count.

    With both, an occurrence has the value of what came first in it: who follows says nothing of the cause. ``kept``
    points are remembered where no occurrences are counted, and ``lasting`` occurrences that last.
    """

    at_least: int
    within: int
    occurrence: int
    distinct: bool = False
    kept: int = KEPT_POINTS
    lasting: int = MOST_LASTING

    @cached_property
    def grain(self) -> int:
        """How much time one point may stand for."""
        return max((self.occurrence or self.within // 4) // QUANTA, 1)

    @cached_property
    def cooling(self) -> int:
        """How long after a fulfilled window begins another one may not begin: it would say the same again."""
        return self.occurrence or self.within


@dataclass(frozen=True)
class Fulfilled:
    """A window in which it happened often enough: its first and newest moment (ms), how often, which events.

    ``firsts`` are the different values of what came first in its occurrences, where both are asked for.
    """

    start: int
    end: int
    count: int
    event_ids: tuple[str, ...]
    firsts: tuple[str, ...] = ()


def recent_of(starts: list[int], newest: int, measure: Measure) -> list[int]:
    """Return the occurrences to keep: whole ones go from the old end, so those that stay begin where they began."""
    oldest = newest - measure.within - measure.cooling - LATENESS_MS
    most = measure.at_least * 2 + SPARE_OCCURRENCES if measure.occurrence else measure.kept
    return starts[bisect_left(starts, oldest) :][-most:]


def amount_of(inside: Sequence[Point], measure: Measure) -> int:
    """Return how much the points *inside* come to."""
    if measure.distinct:
        return len({point.distinct for point in firsts_of(inside, measure.occurrence)})
    if measure.occurrence:
        return len(starts_of(inside, measure.occurrence))
    return sum([point[2] for point in inside])


def values_of(inside: Sequence[Point], measure: Measure) -> tuple[str, ...]:
    """Return the different values of what came first in the occurrences *inside*, where both are asked for."""
    if not (measure.distinct and measure.occurrence):
        return ()
    return tuple(dict.fromkeys(point.distinct for point in firsts_of(inside, measure.occurrence)))


def fulfilled_of(start: int, inside: Sequence[Point], firsts: tuple[str, ...] = ()) -> Fulfilled:
    """Return the window that begins at *start* and holds the points *inside*."""
    return Fulfilled(
        start=start,
        end=max(point.last for point in inside),
        count=sum(point.times for point in inside),
        event_ids=tuple(dict.fromkeys(point.event_id for point in inside)),
        firsts=firsts,
    )
