"""The hours of a week in which a policy may act."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.restraints import Hours
from policies.schedules import DAYS, parse_span, parse_zone, permits

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
WEEK = st.integers(0, 7 * 1440 - 1).map(lambda minute: MONDAY + timedelta(minutes=minute))
CLOCK = st.builds(lambda hour, minute: f"{hour:02}:{minute:02}", st.integers(0, 23), st.integers(0, 59))
NAMES = st.lists(st.sampled_from([each.title() for each in DAYS]), min_size=1, max_size=3).map(",".join)


def at(day: int, clock: str) -> datetime:
    hours, minutes = clock.split(":")
    return MONDAY + timedelta(days=day, hours=int(hours), minutes=int(minutes))


@pytest.mark.parametrize(
    ("hours", "moment", "may"),
    [
        (Hours(only=("Mon-Fri 08:00-18:00",)), at(0, "07:59"), False),
        (Hours(only=("Mon-Fri 08:00-18:00",)), at(0, "08:00"), True),
        (Hours(only=("Mon-Fri 08:00-18:00",)), at(4, "18:00"), False),
        (Hours(only=("Mon-Fri 08:00-18:00",)), at(5, "12:00"), False),
        (Hours(only=("mon-fri", "Sat 09:00-12:00")), at(5, "11:00"), True),
        (Hours(never=("22:00-06:00",)), at(2, "23:00"), False),
        (Hours(never=("22:00-06:00",)), at(2, "05:59"), False),
        (Hours(never=("22:00-06:00",)), at(2, "06:00"), True),
        (Hours(never=("Sun 22:00-06:00",)), at(0, "03:00"), False),  # it began on Sunday
        (Hours(never=("Sun 22:00-06:00",)), at(6, "03:00"), True),
        (Hours(only=("Sat-Mon",)), at(0, "12:00"), True),
        (Hours(only=("Sat-Mon",)), at(1, "12:00"), False),
        (Hours(only=("Mon-Fri",), never=("Wed",)), at(2, "12:00"), False),
        (Hours(only=("20:00-24:00",)), at(3, "23:59"), True),
        (Hours(only=("Mon 08:00-09:00",), zone="+01:00"), at(0, "07:30"), True),
        (Hours(only=("Mon 08:00-09:00",), zone="-05:30"), at(0, "13:30"), True),
        (Hours(only=("Sun",), zone="-08:00"), at(0, "07:59"), True),
        (None, at(0, "00:00"), True),
    ],
)
def test_whether_it_may_act(hours: Hours | None, moment: datetime, may: bool) -> None:
    assert permits(hours, moment) is may


@pytest.mark.parametrize("text", ["", " ", "Mo", "Mon-", "Mon 8:00-9:00", "Mon 25:00-26:00", "08:00", "08:60-09:00"])
def test_what_is_no_span_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_span(text)


def test_a_span_that_ends_where_it_begins_is_refused() -> None:
    with pytest.raises(ValueError, match="begins where it ends"):
        parse_span("Mon 08:00-08:00")


@pytest.mark.parametrize("text", ["Europe/Berlin", "CET", "1", "+1:00", "+15:00", "+01:60", "Z", ""])
def test_a_zone_is_an_offset(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_zone(text)


@given(st.text(max_size=80))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    for read in (parse_span, parse_zone):
        with contextlib.suppress(ValueError):
            read(text)


@given(NAMES, CLOCK, CLOCK, WEEK)
def test_only_and_never_of_one_span_are_opposites(days: str, begin: str, end: str, moment: datetime) -> None:
    if begin != end:
        span = f"{days} {begin}-{end}"
        assert permits(Hours(only=(span,)), moment) is not permits(Hours(never=(span,)), moment)


@given(CLOCK, CLOCK, WEEK)
def test_a_day_is_what_a_span_and_its_reverse_make(begin: str, end: str, moment: datetime) -> None:
    if begin != end:
        spans = (parse_span(f"{begin}-{end}"), parse_span(f"{end}-{begin}"))
        minute = moment.hour * 60 + moment.minute
        assert [span.holds(moment.weekday(), minute) for span in spans].count(True) == 1
