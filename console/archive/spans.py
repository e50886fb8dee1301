"""Which sequence numbers of a spool the archive has, and on which day it turns out that some are missing.

Decides what is a repeat and what is a gap. Numbers from before the first that was read are not missed: they lie outside
the period. It must not know what the numbers stand for.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date


class Spans:
    """The numbers of one spool; two lanes overtake each other, so a gap may close later."""

    def __init__(self) -> None:
        """Have seen nothing."""
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._days: list[date] = []
        self._claimed: tuple[int, date] | None = None

    def take(self, number: int, day: date) -> bool:
        """Take *number*, which came on *day*; say whether it is new."""
        at = bisect_right(self._firsts, number)
        if at and number <= self._lasts[at - 1]:
            return False
        if at and number == self._lasts[at - 1] + 1:
            self._lasts[at - 1] = number
            self._join(at - 1)
        elif at < len(self._firsts) and number == self._firsts[at] - 1:
            self._firsts[at] = number
        else:
            self._firsts.insert(at, number)
            self._lasts.insert(at, number)
            self._days.insert(at, day)
        return True

    def claim(self, following: int, day: date) -> None:
        """Hear on *day* that all numbers before *following* were sent."""
        if self._claimed is None or following > self._claimed[0]:
            self._claimed = (following, day)

    def missing(self) -> Iterator[tuple[date, int]]:
        """Yield day and how many numbers were missing then and never came."""
        for at in range(1, len(self._firsts)):
            yield self._days[at], self._firsts[at] - self._lasts[at - 1] - 1
        if self._claimed and self._lasts and self._claimed[0] > self._lasts[-1] + 1:
            yield self._claimed[1], self._claimed[0] - self._lasts[-1] - 1

    def _join(self, at: int) -> None:
        if at + 1 < len(self._firsts) and self._lasts[at] + 1 == self._firsts[at + 1]:
            self._lasts[at] = self._lasts[at + 1]
            del self._firsts[at + 1], self._lasts[at + 1], self._days[at + 1]
