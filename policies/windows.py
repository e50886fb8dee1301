"""Counts per policy and component of one node: when did it happen, how often, is that enough.

Decides which conditions are fulfilled. What is added commutes, and the answer depends on what was added only: a window
begins at an occurrence, is fulfilled once enough others lie within it, and more can only help. A window is named by its
beginning. What repeats an occurrence that lasts stands where that one began. It must not know events or policies, only
the numbers of a `Measure`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from policies.lasting import Lasting, beginning, bounded
from policies.measures import Fulfilled, Measure, amount_of, fulfilled_of, recent_of, values_of
from policies.occurrences import Point, first_of, point_of, starts_of


class Counter:
    """What one policy has counted for one component of one node."""

    __slots__ = (
        "_grain",
        "_lasting",
        "_loaded",
        "_longest",
        "_new",
        "_newest",
        "_points",
        "_repeated",
        "_told",
        "revision",
    )

    def __init__(
        self,
        revision: int,
        points: Iterable[Point] = (),
        told: Iterable[int] = (),
        lasting: Iterable[Lasting] = (),
    ) -> None:
        """Take *points* and the beginnings of windows *told* already under *revision*, as `dump` gives them."""
        self.revision = revision
        self._loaded = list(points)
        self._points: dict[tuple[int, str], Point] = {}
        self._grain = 0
        self._newest = max([point[1] for point in self._loaded], default=0)
        self._longest = max([len(point[4]) for point in self._loaded], default=0)  # of the values, now or before
        self._told = list(told)
        self._lasting = {one.name: one for one in lasting} if lasting else {}
        self._new: set[int] = set()
        self._repeated: set[str] = set()

    @classmethod
    def load(cls, dumped: list[Any]) -> "Counter":
        """Return what `dump` wrote."""
        revision, points, told, *lasting = dumped
        named = [Lasting(*one) for one in lasting[0]] if lasting else ()
        return cls(revision, [Point(*point) for point in points], told, named)

    def rest(self) -> tuple[int, int]:
        """Be what `load` makes of `dump`, once what was added was asked about; return newest moment and most bytes.

        A character of JSON has six bytes at most, a number sixteen.
        """
        self._new.clear()
        self._repeated.clear()
        newest, points = self._newest, len(self._loaded) + len(self._points)
        size = 64 + 17 * len(self._told) + (400 + 6 * self._longest) * points
        for one in self._lasting.values():
            newest, size = max(newest, one.last), size + 160 + 6 * (len(one.name) + len(one.distinct))
        return newest, size

    def dump(self) -> list[Any]:
        """Return the JSON form, the same for the same content."""
        dumped = [self.revision, self._sorted(), self._told]
        return [*dumped, list(self._lasting.values())] if self._lasting else dumped

    def add(self, measure: Measure, moment: int, count: int, event_id: str, distinct: str = "") -> None:
        """Count an event at *moment* (ms, corrected)."""
        grain = measure.grain
        if self._grain != grain:
            self._settle(measure)
        key = (moment // grain, distinct)
        there = self._points.get(key)
        if there is None:
            self._points[key] = point_of(moment, moment, count, event_id, distinct)
            if distinct:
                self._longest = max(self._longest, len(distinct))
        else:  # `Point.merged`, without a point for what is merged: a burst comes by here with every event
            first, last, times, first_id, _distinct = there
            if moment < first or (moment == first and event_id < first_id):
                first, first_id = moment, event_id
            elif moment > last:
                last = moment
            self._points[key] = point_of(first, last, times + count, first_id, distinct)
        self._new.add(moment)
        if moment > self._newest:  # noqa: PLR1730 - `max` takes three times as long, and every event comes by here
            self._newest = moment

    def repeat(self, one: Lasting) -> None:
        """Note that an occurrence still lasts: fresh evidence, and no count."""
        known = self._lasting.get(one.name)
        merged = one if known is None else known.merged(one)
        if known is not None and merged.first < known.first:
            self._told = [merged.first if start == known.first else start for start in self._told]
        self._lasting[one.name] = merged
        self._repeated.add(one.name)

    def fulfilled(self, measure: Measure, revision: int) -> list[Fulfilled]:
        """Return the windows that what was added since loading has fulfilled and that were not told; remember them.

        Late events may shift where occurrences begin, and so fulfil a window that they do not lie in. A new *revision*
        of the policy may tell again what the old one told, but only windows that something new lies in.
        """
        self._settle(measure)
        if self._is_first(revision):
            return self._tell_first(measure)
        edited = revision != self.revision
        if edited:
            self.revision, self._told = revision, []
        counted = self._sorted()
        lasting = self._place(counted, measure.lasting) if self._lasting else []
        points = sorted([*counted, *lasting]) if lasting else counted
        starts = starts_of(points, measure.occurrence)
        begun = {one.event_id: starts[bisect_right(starts, one.first) - 1] for one in lasting}
        recent = recent_of(
            starts, max([self._newest, *(one.last for one in lasting)]) if lasting else self._newest, measure
        )
        self._forget(counted, begun, recent)
        starts = sorted({*recent, *begun.values()}) if begun else recent
        points = points[bisect_left(points, starts[0], key=first_of) :] if starts else []
        return self._tell(starts, points, measure, begun, edited=edited)

    def _is_first(self, revision: int) -> bool:
        """Whether all is one point, of which nothing was told: what nearly every fault is at first."""
        return len(self._points) == 1 and revision == self.revision and not self._told and not self._lasting

    def _tell_first(self, measure: Measure) -> list[Fulfilled]:
        (one,) = self._points.values()
        if measure.at_least > amount_of((one,), measure):
            return []
        self._told = [one.first]
        return [Fulfilled(one.first, one.last, one.times, (one.event_id,))]

    def _tell(
        self,
        starts: Sequence[int],
        points: Sequence[Point],
        measure: Measure,
        begun: dict[str, int],
        *,
        edited: bool,
    ) -> list[Fulfilled]:
        found: list[Fulfilled] = []
        told: list[int] = []
        new = self._new | {begun[name] for name in self._repeated if name in begun} if begun else self._new
        firsts = [point[0] for point in points]
        at = 0
        while at < len(starts):
            start, at = starts[at], at + 1
            inside = points[bisect_left(firsts, start) : bisect_right(firsts, start + measure.within)]
            if amount_of(inside, measure) < measure.at_least:
                continue
            told.append(start)
            if not measure.occurrence:  # windows are told from the oldest on, and the next is not too near
                at = bisect_left(starts, start + measure.cooling, at)
            fresh = not edited or any(start <= moment <= start + measure.within for moment in new)
            if fresh and not self._knows(start, measure, begun):
                found.append(fulfilled_of(start, inside, values_of(inside, measure)))
        self._told = told
        return found

    def _knows(self, start: int, measure: Measure, begun: dict[str, int]) -> bool:
        """A repeat that came before its onset was told under its own moment."""
        if start in self._told:
            return True
        if any(at == start and self._lasting[name].first in self._told for name, at in begun.items()):
            return True
        if measure.occurrence:
            return any(start <= one <= start + measure.occurrence for one in self._told)
        return any(abs(start - one) < measure.cooling for one in self._told)

    def _place(self, counted: Sequence[Point], most: int) -> list[Point]:
        """Return what lasts as points where it began: of no count where that is counted."""
        plain = [(point.first, point.event_id) for point in counted]
        newest = max([*(point.last for point in counted), *(one.last for one in self._lasting.values())])
        self._lasting = bounded(self._lasting, newest, most)
        placed: list[Point] = []
        for one in self._lasting.values():
            owner = None if one.anchor else beginning(one, plain)
            at = one.anchor or one.first if owner is None else owner
            placed.append(Point(at, one.last, int(owner is None), one.name, one.distinct))
        return placed

    def _forget(self, counted: Sequence[Point], begun: dict[str, int], recent: Sequence[int]) -> None:
        """Drop what began before the *recent* occurrences; what lasts keeps where it began."""
        if recent and (not counted or counted[0].first >= recent[0]):
            return
        kept = [point for point in counted if recent and point.first >= recent[0]]
        self._points = {self._key(point): point for point in kept}
        self._newest = max([point[1] for point in kept], default=0)
        for name, start in begun.items():
            if not recent or start < recent[0]:
                self._lasting[name] = self._lasting[name]._replace(anchor=start)

    def _settle(self, measure: Measure) -> None:
        """Sort what was loaded by the grain of this measure; an edited policy may have another than it was kept by."""
        if self._grain != measure.grain:
            self._grain = measure.grain
            if not self._loaded and not self._points:
                return
            known, self._points = [*self._loaded, *self._points.values()], {}
            self._loaded = []
            for point in known:
                self._merge(point)

    def _key(self, point: Point) -> tuple[int, str]:
        return point.first // self._grain, point.distinct

    def _merge(self, point: Point) -> None:
        key = self._key(point)
        there = self._points.get(key)
        self._points[key] = point if there is None else there.merged(point)

    def _sorted(self) -> list[Point]:
        if len(self._points) == 1 and not self._loaded:
            return [*self._points.values()]
        return sorted([*self._loaded, *self._points.values()])
