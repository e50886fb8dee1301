"""Spans of time are written with their unit."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30.0),
        ("1h", 3600.0),
        ("1h30m", 5400.0),
        ("500ms", 0.5),
        ("2d", 172_800.0),
        ("1.5m", 90.0),
        (" 10s ", 10.0),
    ],
)
def test_a_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value", ["", "10", "ten", "10 s", "-1s", "1h-", "5w", "9" * 40 + "s", 10, 1.5, None, True, []]
)
def test_what_has_no_unit_is_refused_with_an_example(value: object) -> None:
    with pytest.raises(ValueError, match="30s"):
        parse_duration(value)


@given(st.integers(0, 100), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_parts_add_up(days: int, hours: int, minutes: int, seconds: int) -> None:
    meant = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    assert parse_duration(f"{days}d{hours}h{minutes}m{seconds}s") == meant.total_seconds()
