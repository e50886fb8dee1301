"""Points on the line of time, and which of them are one occurrence.

Decides where occurrences begin and how many there are. It must not know what is counted, or what was told.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Point(NamedTuple):
    """What happened within one grain of time: first and last moment (ms), how often, which event first."""

    first: int
    last: int
    times: int
    event_id: str
    distinct: str = ""

    def merged(self, other: "Point") -> "Point":
        """Return both as one; the order does not matter."""
        first, event_id = min((self.first, self.event_id), (other.first, other.event_id))
        return Point(first, max(self.last, other.last), self.times + other.times, event_id, self.distinct)


def point_of(first: int, last: int, times: int, event_id: str, distinct: str) -> Point:
    """Return the point as `Point` does, in half the time."""
    return tuple.__new__(Point, (first, last, times, event_id, distinct))


def starts_of(points: Sequence[Point], occurrence: int) -> list[int]:
    """Return where occurrences begin: one is everything within *occurrence* of its first point."""
    return [point[0] for point in (firsts_of(points, occurrence) if occurrence else points)]


def firsts_of(points: Sequence[Point], occurrence: int) -> Iterator[Point]:
    """Yield the first point of each occurrence."""
    start: int | None = None
    for point in points:
        first = point[0]
        if start is None or first > start + occurrence or not occurrence:
            start = first
            yield point


def first_of(point: Point) -> int:
    """Return the first moment of *point*, by which points are sorted."""
    return point.first
