"""How a moment travels: RFC 3339, UTC, microseconds and ``Z``; aware datetimes inside.

It must not read a clock.
"""

import math
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, PlainSerializer


def format_time(moment: datetime) -> str:
    """Return *moment* as ``2026-01-31T23:59:59.000001Z``; the text sorts as time does."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat("T", "microseconds")[:-6] + "Z"  # four times as fast as strftime; ends with +00:00


def parse_time(text: str) -> datetime:
    """Return the aware UTC datetime that *text* (RFC 3339) names; ValueError when it names none or has no offset."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        msg = f"{text!r} has no offset; write UTC as ...Z"
        raise ValueError(msg)
    return _to_utc(moment)


def add_seconds(moment: datetime, seconds: float) -> datetime:
    """Return the moment *seconds* after *moment*."""
    return moment + timedelta(seconds=seconds)


def whole_seconds(seconds: float) -> int:
    """Return *seconds* rounded up: a Step Functions Wait takes whole seconds only, and too early asks for nothing."""
    return math.ceil(seconds)


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except OverflowError:  # the first and the last hours of the calendar, given with an offset
        msg = "is no moment of the calendar in UTC"
        raise ValueError(msg) from None


Moment = Annotated[AwareDatetime, AfterValidator(_to_utc), PlainSerializer(format_time, when_used="json")]
WaitSeconds = Annotated[float, PlainSerializer(whole_seconds, return_type=int, when_used="json")]
