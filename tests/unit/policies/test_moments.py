"""Reckoning on from any moment ends within the calendar, and is what it always was inside it."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from policies.moments import FIRST, LAST, earlier, from_ms, later

MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS, st.timedeltas(max_value=-timedelta.min))  # what has a negative
def test_what_lies_beyond_the_calendar_is_its_end(moment: datetime, by: timedelta) -> None:
    for found, sign in ((later(moment, by), 1), (earlier(moment, by), -1)):
        assert FIRST <= found <= LAST
        if FIRST < found < LAST:
            assert found - moment == sign * by
        assert (found >= moment) == (sign * by >= timedelta())


@given(MOMENTS)
def test_milliseconds_and_back(moment: datetime) -> None:
    whole = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert from_ms((whole - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)) == whole


@given(st.integers())
def test_any_number_of_milliseconds_is_a_moment(milliseconds: int) -> None:
    assert FIRST <= from_ms(milliseconds) <= LAST
