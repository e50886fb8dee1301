"""When a schedule fires next: `rate(…)` and `cron(…)` as EventBridge rules spell them. Pure.

Source: EventBridge user guide, "Setting a schedule pattern". Times are UTC. `L`, `W` and `#` are not represented.
"""

import re
from calendar import day_abbr, month_abbr
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from local.aws.errors import UnsupportedError

_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_MONTHS = {month_abbr[number].upper(): number for number in range(1, 13)}
_DAYS = {day_abbr[number].upper(): (number + 1) % 7 + 1 for number in range(7)}  # 1 is Sunday
# minute, hour, day of month, month, day of week, year: the lowest and highest value, and names for some.
_FIELDS: tuple[tuple[int, int, Mapping[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (1, 7, _DAYS),
    (1970, 2199, {}),
)
_SEARCH = timedelta(days=366 * 5)


@dataclass(frozen=True, slots=True)
class Rate:
    """Every so often."""

    every: timedelta

    def after(self, moment: datetime) -> datetime:
        return moment + self.every


@dataclass(frozen=True, slots=True)
class Cron:
    """At certain minutes of certain days."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    years: frozenset[int]

    def after(self, moment: datetime) -> datetime:
        """The first firing later than `moment`.

        Raises:
            UnsupportedError: there is none in the next five years.
        """
        candidate = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        while candidate < moment + _SEARCH:
            if not self._on_day(candidate):
                candidate = (candidate + timedelta(days=1)).replace(hour=0, minute=0)
            elif candidate.hour not in self.hours:
                candidate = (candidate + timedelta(hours=1)).replace(minute=0)
            elif candidate.minute not in self.minutes:
                candidate += timedelta(minutes=1)
            else:
                return candidate
        raise UnsupportedError("this cron expression does not fire in the next five years")

    def _on_day(self, moment: datetime) -> bool:
        weekday = moment.isoweekday() % 7 + 1  # 1 is Sunday
        return (
            moment.year in self.years
            and moment.month in self.months
            and moment.day in self.days
            and weekday in self.weekdays
        )


def parse(expression: str) -> Rate | Cron:
    """A schedule.

    Raises:
        UnsupportedError: not a form that is represented.
    """
    rate = _RATE.fullmatch(expression)
    if rate is not None:
        return Rate(int(rate[1]) * _UNITS[rate[2]])
    fields = expression.removeprefix("cron(").removesuffix(")").split()
    if not expression.startswith("cron(") or len(fields) != len(_FIELDS):
        raise UnsupportedError(f"the schedule {expression!r} is not represented in the embedded AWS")
    return Cron(*(_values(text, *bounds) for text, bounds in zip(fields, _FIELDS, strict=True)))


def _values(text: str, low: int, high: int, names: Mapping[str, int]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, last = _span(span, low, high, names)
        if step and "-" not in span and span not in {"*", "?"}:
            last = high
        found.update(range(first, last + 1, int(step or 1)))
    return frozenset(found)


def _span(text: str, low: int, high: int, names: Mapping[str, int]) -> tuple[int, int]:
    if text in {"*", "?"}:
        return low, high
    ends = text.split("-")
    try:
        numbers = [names.get(end.upper()) or int(end) for end in ends]
    except ValueError:
        raise UnsupportedError(f"{text!r} in a cron expression is not represented in the embedded AWS") from None
    return numbers[0], numbers[-1]
