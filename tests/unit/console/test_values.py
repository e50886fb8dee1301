"""Whatever is typed after an option of any command is read, or refused in words: nothing without an end."""

import argparse
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console import main as console
from console import values

ABSURD = (
    *(
        "",
        " ",
        "0",
        "-0",
        "-1",
        "1e3",
        "1_000",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "0.0000000000001",
        "0x10",
        "٣",
        "\uff11\uff12",
        "½",
    ),
    *("1" + "0" * 12, "9" * 20, "9" * 5000, "0001-01-01", "9999-12-31", "2026-02-30", "now", "2026-11-30T25:00"),
    *("0001-01-01T00:00+14:00", "9999-12-31T23:59:59.999999-23:59", "2026-11-30T00:00:00+99:99"),
)


def options() -> Iterator[tuple[str, argparse.Action]]:
    """Every option of every command that does not take a text as it is."""
    for name in console.COMMANDS:
        parser = argparse.ArgumentParser(prog=name)
        console.load(name).add_arguments(parser)
        yield from _options(name, parser)


def _options(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, each in action.choices.items():
                yield from _options(f"{name} {verb}", each)
        elif action.type is not None:
            yield f"{name} {'/'.join(action.option_strings) or action.dest}", action


TYPED = dict(options())


def test_there_are_options_with_numbers_and_moments() -> None:
    assert {
        "policy push --backtest-days",
        "policy report --days",
        "policy backtest --from",
        "archive stats --days",
    } <= {*TYPED}
    assert len(TYPED) > 30


@pytest.mark.parametrize("name", TYPED)
def test_what_is_absurd_is_refused_in_words_or_has_an_end(name: str) -> None:
    for text in ABSURD:
        found, refused = read(name, text)
        assert bool(refused) != (found is not None), text
        assert refused is None or 10 < len(refused) < 200
        if isinstance(found, int | float):
            assert isfinite(found)
            assert 0 <= found <= values.MOST
        if isinstance(found, datetime):
            assert found.tzinfo is UTC
        if "days" in name:
            assert found is None or datetime.now(UTC) - timedelta(days=found) < datetime.now(UTC)


def read(name: str, text: str) -> tuple[Any, str | None]:
    """What the option makes of *text*, or why it does not take it."""
    kind = TYPED[name].type
    assert callable(kind)
    try:
        return kind(text), None
    except argparse.ArgumentTypeError as error:
        return None, str(error)
    except OSError as error:  # of an option that names a file; `relight` says which
        return None, f"{error.strerror}: {error.filename[:20]}"


def test_no_option_takes_a_number_or_a_moment_that_is_not_looked_at() -> None:
    bare = {name for name, action in TYPED.items() if action.type in {int, float}}
    assert not bare, "console/values.py reads numbers"


@given(
    st.text(max_size=40)
    | st.floats().map(str)
    | st.integers().map(str)
    | st.datetimes(timezones=st.timezones()).map(str)
)
@example("1" * 40)
def test_no_text_breaks_a_reader(text: str) -> None:
    for read in (values.days, values.positive, values.seconds, values.above_zero, values.moment):
        with suppress(argparse.ArgumentTypeError):
            read(text)


def test_what_is_usual_is_read() -> None:
    assert [values.days(text) for text in ("1", "14", "3660")] == [1, 14, 3660]
    assert [values.seconds(text) for text in ("0", "0.5", "60", "1e2", "86400")] == [0, 0.5, 60, 100, 86400]
    assert values.above_zero("0.05") == 0.05
    assert values.moment("2026-11-30T07:00+02:00") == datetime(2026, 11, 30, 5, tzinfo=UTC)
    assert values.moment("2026-11-30") == datetime(2026, 11, 30, tzinfo=UTC)
