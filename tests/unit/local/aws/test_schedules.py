"""When schedules fire."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.errors import UnsupportedError
from local.aws.events.schedules import Cron, parse

_SATURDAY = datetime(2026, 2, 28, 12, 34, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("rate(1 minute)", _SATURDAY + timedelta(minutes=1)),
        ("rate(5 minutes)", _SATURDAY + timedelta(minutes=5)),
        ("rate(1 hour)", _SATURDAY + timedelta(hours=1)),
        ("rate(2 days)", _SATURDAY + timedelta(days=2)),
        ("cron(* * * * ? *)", datetime(2026, 2, 28, 12, 35, tzinfo=UTC)),
        ("cron(0/15 * * * ? *)", datetime(2026, 2, 28, 12, 45, tzinfo=UTC)),
        ("cron(0 9 * * ? *)", datetime(2026, 3, 1, 9, 0, tzinfo=UTC)),
        ("cron(30 10 ? * MON-FRI *)", datetime(2026, 3, 2, 10, 30, tzinfo=UTC)),
        ("cron(0 0 1,15 JAN,JUN ? *)", datetime(2026, 6, 1, tzinfo=UTC)),
        ("cron(0 0 29 2 ? *)", datetime(2028, 2, 29, tzinfo=UTC)),
        ("cron(0 0 ? * 1 2027)", datetime(2027, 1, 3, tzinfo=UTC)),
    ],
)
def test_the_next_firing(expression: str, expected: datetime) -> None:
    assert parse(expression).after(_SATURDAY) == expected


@pytest.mark.parametrize(
    "expression", ["cron(0 0 L * ? *)", "cron(0 0 * * 2#1 *)", "cron(* *)", "rate(1 week)", "hourly"]
)
def test_what_is_not_represented_is_refused(expression: str) -> None:
    with pytest.raises(UnsupportedError):
        parse(expression)


def test_a_schedule_that_never_fires_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="does not fire"):
        parse("cron(0 0 31 2 ? *)").after(_SATURDAY)


@given(seconds=st.integers(0, 10 * 365 * 86_400), minute=st.integers(0, 59))
def test_a_firing_is_later_and_at_its_minute(seconds: int, minute: int) -> None:
    moment = _SATURDAY + timedelta(seconds=seconds)
    schedule = parse(f"cron({minute} * * * ? *)")
    assert isinstance(schedule, Cron)
    fired = schedule.after(moment)
    assert timedelta() < fired - moment <= timedelta(hours=1, minutes=1)
    assert fired.minute == minute
