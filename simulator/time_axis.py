"""Where moments stand on a line from left to right, and which of them it names.

Decides the scale and round moments for its marks: full minutes, hours, days. It must not draw.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.moments import LAST, later

MOST_MARKS = 8
_SECOND, _MINUTE, _HOUR, _DAY = (timedelta(seconds=each) for each in (1, 60, 3600, 86_400))
_STEPS = (
    *(_SECOND * each for each in (1, 5, 15, 30)),
    *(_MINUTE * each for each in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * each for each in (1, 2, 3, 6, 12)),
    *(_DAY * each for each in (1, 2, 7)),
)
_MONTH, _MONTHS = _DAY * 30, (1, 2, 3, 6, *(12 * each for each in (1, 2, 5, 10, 50, 100, 500, 1000)))


@dataclass(frozen=True)
class Mark:
    """A round moment at ``x``; ``upper`` names it, ``lower`` says of which day or year, where that is another."""

    x: float
    upper: str
    lower: str


@dataclass(frozen=True)
class TimeAxis:
    """From ``begin`` at ``left`` to ``end`` at ``right``. What lies outside stands at the nearer end."""

    begin: datetime
    end: datetime
    left: float
    right: float

    @property
    def _span(self) -> timedelta:
        return max(self.end - self.begin, _SECOND)

    def at(self, moment: datetime) -> float:
        """Return where *moment* stands."""
        share = (moment - self.begin) / self._span
        return round(self.left + (self.right - self.left) * min(max(share, 0.0), 1.0), 1)

    def marks(self) -> Iterator[Mark]:
        """Yield the marks: some four to fourteen, whatever the period."""
        step = next((each for each in _STEPS if self._span / each <= MOST_MARKS), _MONTH)
        before = ""
        for moment in self._firsts_of_months() if step == _MONTH else self._multiples_of(step):
            upper, lower = _named(moment, step)
            yield Mark(self.at(moment), upper, lower if lower != before else "")
            before = lower

    def _multiples_of(self, step: timedelta) -> Iterator[datetime]:
        midnight = self.begin.replace(hour=0, minute=0, second=0, microsecond=0)
        moment = later(midnight, -(-(self.begin - midnight) // step) * step)
        while moment <= self.end and moment < LAST:
            yield moment
            moment = later(moment, step)

    def _firsts_of_months(self) -> Iterator[datetime]:
        months = next((each for each in _MONTHS if self._span / (_MONTH * each) <= MOST_MARKS + 5), _MONTHS[-1])
        first = self.begin.year * 12 + self.begin.month - 1
        for number in range(-(-first // months) * months, self.end.year * 12 + self.end.month, months):
            moment = datetime(number // 12, number % 12 + 1, 1, tzinfo=self.begin.tzinfo)
            if self.begin <= moment <= self.end:
                yield moment


def _named(moment: datetime, step: timedelta) -> tuple[str, str]:
    """Return the name of *moment*, and of what it is a part of."""
    if step >= _DAY:
        return f"{moment:%m-%d}", f"{moment.year:04}"
    return f"{moment:%H:%M:%S}" if step < _MINUTE else f"{moment:%H:%M}", f"{moment.year:04}-{moment:%m-%d}"
