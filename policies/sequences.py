"""Which sequence numbers of one spool have been received: ranges, since two lanes may overtake each other.

Decides what is new, what is a repeat and what is missing. Adding commutes and repeats change nothing. It must not know
what the numbers stand for.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

MOST_RANGES = (
    64  # with one envelope in flight a spool has one range; more means an outage, then the oldest gap is given up
)


@dataclass(frozen=True)
class Gap:
    """Sequence numbers *first* to *last* of a spool that never came, and since when they are missed (epoch seconds)."""

    spool: str
    first: int
    last: int
    since: int


class Sequences:
    """The received numbers of one spool. Below ``claimed`` every number has been sent: what is not here is missing."""

    def __init__(
        self,
        spool: str,
        ranges: list[list[int]] | None = None,
        claimed: int = 0,
        missed: list[list[int]] | None = None,
        last_heard: int = 0,
    ) -> None:
        """Take *ranges* of ``[first, last]`` and *missed* of ``[first, last, since, told]``, as `dump` gives them."""
        self.spool = spool
        self._ranges = ranges if ranges is not None else []
        self._claimed = claimed
        self._missed = missed if missed is not None else []
        self.last_heard = last_heard
        self.changed = False

    @classmethod
    def load(cls, spool: str, dumped: list[Any]) -> "Sequences":
        """Return what `dump` wrote."""
        ranges, claimed, missed, last_heard = dumped
        return cls(spool, ranges, claimed, missed, last_heard)

    def dump(self) -> list[Any]:
        """Return the JSON form."""
        return [self._ranges, self._claimed, self._missed, self.last_heard]

    def take(self, number: int) -> bool:
        """Receive *number*; say whether it is new."""
        ranges = self._ranges
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
            self.changed = True
            return True
        if not ranges:
            ranges.append([number, number])
            self.changed = True
            return True
        return self._insert(number)

    def has(self, number: int) -> bool:
        """Say whether *number* was received."""
        at = bisect_right(self._ranges, number, key=_first)
        return at > 0 and number <= self._ranges[at - 1][1]

    def _insert(self, number: int) -> bool:
        if self.has(number):
            return False
        at = bisect_right(self._ranges, number, key=_first)
        self._ranges.insert(at, [number, number])
        for left in (at, at - 1):
            self._join(left)
        self.changed = True
        return True

    def _join(self, at: int) -> None:
        ranges = self._ranges
        if 0 <= at < len(ranges) - 1 and ranges[at][1] + 1 >= ranges[at + 1][0]:
            ranges[at][1] = max(ranges[at][1], ranges[at + 1][1])
            del ranges[at + 1]

    def claim(self, following: int) -> None:
        """Learn from the lane that keeps order that every number below *following* has been sent.

        The lane that may overtake tells nothing of the numbers before its own: they still wait for the other.
        """
        if following > self._claimed:
            self._claimed = following
            self.changed = True

    def look_for_gaps(self, now: int, patience: int) -> list[Gap]:
        """Return the gaps that have been open for *patience* seconds at *now* and were not returned before."""
        if not self._missed and self._is_whole():
            return []
        lost = self._give_up(now)
        missed = [self._dated(first, last, now) for first, last in self._holes()]
        for gap in missed:
            if not gap[3] and now - gap[2] >= patience:
                gap[3] = 1
                lost.append(Gap(self.spool, gap[0], gap[1], gap[2]))
        if missed != self._missed:
            self._missed = missed
            self.changed = True
        return lost

    def is_told(self, following: int) -> bool:
        """Whether to claim *following* and to look for gaps changes nothing, whenever that is."""
        gaps = [(first, last) for first, last, _since, told in self._missed if told]
        return following <= self._claimed and len(self._ranges) <= MOST_RANGES and gaps == self._holes()

    def _is_whole(self) -> bool:
        ranges = self._ranges
        return len(ranges) == 1 and ranges[0][0] == 0 and self._claimed <= ranges[0][1] + 1

    def _holes(self) -> list[tuple[int, int]]:
        below = [one for one in self._ranges if one[0] < self._claimed]
        edges = [-1, *(edge for one in below for edge in one), self._claimed]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return [(before + 1, after - 1) for before, after in pairs if after - before > 1]

    def _dated(self, first: int, last: int, now: int) -> list[int]:
        """A hole that is (part of) one known before keeps its date, and is not told twice."""
        for known_first, known_last, since, told in self._missed:
            if known_first <= first and last <= known_last:
                return [first, last, since, told]
        return [first, last, now, 0]

    def _give_up(self, now: int) -> list[Gap]:
        """Keep the ranges bounded: close the oldest gaps and return those that nobody was told of."""
        lost = []
        while len(self._ranges) > MOST_RANGES:
            gap = self._dated(self._ranges[0][1] + 1, self._ranges[1][0] - 1, now)
            self._ranges[0][1] = self._ranges[1][1]
            del self._ranges[1]
            if not gap[3]:
                lost.append(Gap(self.spool, gap[0], gap[1], gap[2]))
        return lost


def _first(one: list[int]) -> int:
    return one[0]
