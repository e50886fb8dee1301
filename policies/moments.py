"""Moments before and after others, though the calendar has a first and a last.

Documents that are read tell any moment of the years 1 to 9999: a clock that was off, a hand that edited. Whoever
reckons on from one must not break there, since the rest of what is read has nothing to do with it. How far two moments
lie apart can always be told: where that is enough, subtract them.

It must not know what a moment is of.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

FIRST: Final = datetime.min.replace(tzinfo=UTC)
LAST: Final = datetime.max.replace(tzinfo=UTC)


def later(moment: datetime, by: timedelta) -> datetime:
    """Return the moment *by* after *moment* (UTC), or the calendar's end where it has none so far away."""
    try:
        return moment + by
    except OverflowError:
        return LAST if by > timedelta() else FIRST


def earlier(moment: datetime, by: timedelta) -> datetime:
    """Return the moment *by* before *moment* (UTC), or the calendar's end where it has none so far away."""
    try:
        return moment - by
    except OverflowError:
        return FIRST if by > timedelta() else LAST


def from_ms(milliseconds: int) -> datetime:
    """Return the moment of these epoch milliseconds (UTC), or the calendar's end beyond it."""
    return later(_EPOCH, timedelta(milliseconds=max(min(milliseconds, _MOST_MS), -_MOST_MS)))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_MS = 10**15  # some 30,000 years: beyond the calendar, within what a timedelta holds
