"""When a policy may act: the hours of a week, in a zone with a fixed offset from UTC.

Decides what ``Mon-Fri 08:00-18:00`` means. Zones with names have clocks that change, and their table is a file that
may differ between machines: so offsets only. It must not read a clock.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import lru_cache

from policies.contract.restraints import Hours

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_MINUTES = 1440
LONGEST_ENTRY = 64
FURTHEST_MINUTES = 14 * 60  # the Line Islands; nobody lives further from UTC
_DAYS = r"[A-Za-z]{3}(?:-[A-Za-z]{3})?(?:,[A-Za-z]{3}(?:-[A-Za-z]{3})?)*"
_ENTRY = re.compile(rf"(?P<days>{_DAYS})?\s*(?:(?P<begin>\d\d:\d\d)-(?P<end>\d\d:\d\d))?")
_ZONE = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):(?P<minutes>\d\d)")


@dataclass(frozen=True)
class Span:
    """Some minutes of the days on which it begins; one that ends before it begins ends on the day after."""

    days: frozenset[int]
    begin: int
    end: int

    def holds(self, weekday: int, minute: int) -> bool:
        """Whether the *minute* of a day that is *weekday* (0: Monday) lies in it."""
        if self.begin < self.end:
            return weekday in self.days and self.begin <= minute < self.end
        yesterday = (weekday - 1) % len(DAYS)
        return (weekday in self.days and minute >= self.begin) or (yesterday in self.days and minute < self.end)


@lru_cache(maxsize=1024)
def parse_span(text: str) -> Span:
    """Return what an entry such as ``Mon-Fri 08:00-18:00`` names; ValueError says how to write one."""
    found = _ENTRY.fullmatch(text.strip()) if len(text) <= LONGEST_ENTRY else None
    if found is None or not text.strip():
        raise ValueError(
            f"{text[:LONGEST_ENTRY]!r} is no span of the week; write Mon-Fri 08:00-18:00, Sat,Sun or 22:00-06:00"
        )
    begin, end = (_minute(found["begin"]), _minute(found["end"])) if found["begin"] else (0, DAY_MINUTES)
    if begin in {end, DAY_MINUTES}:
        raise ValueError(f"{text!r} begins where it ends; leave the hours out to mean the whole day")
    return Span(_days(found["days"] or "mon-sun"), begin, end)


@lru_cache(maxsize=64)
def parse_zone(text: str) -> timezone:
    """Return the zone with the offset *text*; ValueError says how to write one."""
    found = _ZONE.fullmatch(text)
    minutes = int(found["hours"]) * 60 + int(found["minutes"]) if found and int(found["minutes"]) < 60 else None  # noqa: PLR2004 - of an hour
    if found is None or minutes is None or minutes > FURTHEST_MINUTES:
        raise ValueError(
            f"{text[:LONGEST_ENTRY]!r} is no offset from UTC; write +01:00, -05:00 or +00:00 (no zone names)"
        )
    return timezone(timedelta(minutes=minutes if found["sign"] == "+" else -minutes))


def permits(hours: Hours | None, now: datetime) -> bool:
    """Whether these *hours* let a policy act at *now*: in a span of ``only`` (none: always), in none of ``never``."""
    if hours is None:
        return True
    local = now.astimezone(parse_zone(hours.zone))
    weekday, minute = local.weekday(), local.hour * 60 + local.minute
    if any(parse_span(text).holds(weekday, minute) for text in hours.never):
        return False
    return not hours.only or any(parse_span(text).holds(weekday, minute) for text in hours.only)


def _minute(text: str) -> int:
    hours, minutes = (int(part) for part in text.split(":"))
    if minutes >= 60 or hours * 60 + minutes > DAY_MINUTES:  # noqa: PLR2004 - of an hour
        raise ValueError(f"{text} is no time of a day; write 00:00 to 24:00")
    return hours * 60 + minutes


def _days(text: str) -> frozenset[int]:
    days: set[int] = set()
    for part in text.lower().split(","):
        first, _, last = part.partition("-")
        if first not in DAYS or (last and last not in DAYS):
            raise ValueError(f"{part!r} is no day of the week; write Mon, Tue, Wed, Thu, Fri, Sat or Sun")
        begin = DAYS.index(first)
        length = (DAYS.index(last or first) - begin) % len(DAYS)
        days.update((begin + at) % len(DAYS) for at in range(length + 1))
    return frozenset(days)
