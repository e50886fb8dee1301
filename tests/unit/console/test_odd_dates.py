"""A document of any date, or of none, breaks no command that reads an archive: the rest of it is told as before."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from console.main import main
from functions.adapters.archive_folder import FolderArchive
from policies.contract.archive_names import EVENTS, INCIDENTS, object_key
from policies.contract.times import parse_time
from policies.coordination.incident import Incident
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.odd_dates import is_moment, redated
from tests.tools.replays import documents, head, history, incidents, put_history, revision

SHADOW = {**documents()[0], "mode": "shadow"}
OFFSETS = ("Z", "+00:00", "+14:00", "-12:00", "+23:59", "-23:59", "+05:45:30", "", "+24:00")
DAYS = ((1, 1, 1), (9999, 12, 31), (1969, 12, 31))
DATES = st.one_of(
    st.sampled_from((datetime.min, datetime.max, *(datetime(*day, tzinfo=UTC) for day in DAYS))),  # noqa: DTZ901
    st.datetimes(),
)
ODD = st.builds(
    lambda date, offset: f"{date.replace(tzinfo=None).isoformat('T', 'microseconds')}{offset}",
    DATES,
    st.sampled_from(OFFSETS),
)
SEVERAL = st.lists(ODD, min_size=1, max_size=4)


@cache
def past() -> list[Incident]:
    return incidents(history(), Question(Revisions.of(happened())))


def happened() -> list[Any]:
    return [each for made in (SHADOW, documents()[1]) for each in revision(head(made), NOW - timedelta(hours=1))]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return put_history(tmp_path / "archive", happened(), past())


def put_odd(archive: Path, incident: Incident, dates: list[str]) -> None:
    """Add *incident* once more, as another, with *dates*, in an object of the hour that its line names."""
    odd = {**redated(incident.model_dump(mode="json"), dates), "id": "0dd" + incident.id[3:]}
    line = json.dumps({"v": 1, "at": dates[0], "id": f"odd:{dates}", "incident": odd}).encode() + b"\n"
    at = parse_time(dates[0]) if is_moment(dates[0]) else NOW
    FolderArchive(archive).put(object_key(INCIDENTS, at, INCIDENTS, line), gzip.compress(line))


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = main([*map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out or "{}")


Shown = pytest.CaptureFixture[str]
ONCE = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FIRST, LAST, BEYOND = "0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999998Z", "9999-12-31T23:59:59.999999-23:59"


def whatever_the_dates(test: Callable[..., None]) -> Callable[..., None]:
    """Have *test* asked with several dates, those at the ends of the calendar among them."""
    asked = ONCE(given(dates=SEVERAL)(test))
    for dates in ([BEYOND], [LAST, FIRST], [FIRST]):
        asked = example(dates)(asked)
    return asked


@whatever_the_dates
def test_the_report_tells_of_the_others_as_before(
    tmp_path_factory: pytest.TempPathFactory, capsys: Shown, dates: list[str]
) -> None:
    folder = put_history(tmp_path_factory.mktemp("a") / "archive", happened(), past())
    _, before = run(capsys, "policy", "report", "--events", folder)
    put_odd(folder, past()[0], dates)
    status, after = run(capsys, "policy", "report", "--events", folder)
    assert status == 0
    assert cases(before) <= cases(after)


def cases(report: dict[str, Any]) -> set[str]:
    return {case["incident"] for one in report["policies"] for case in one["cases"]}


@whatever_the_dates
def test_the_statistics_count_the_other_days_as_before(
    tmp_path_factory: pytest.TempPathFactory, capsys: Shown, dates: list[str]
) -> None:
    folder = put_history(tmp_path_factory.mktemp("a") / "archive", happened(), past())
    _, before = run(capsys, "archive", "stats", folder)
    put_odd(folder, past()[0], dates)
    status, after = run(capsys, "archive", "stats", folder)
    odd = sum(day["objects"] for day in after["days"]) - sum(day["objects"] for day in before["days"])
    assert odd == 1, "whatever its date, it is found"
    assert status == (1 if after["unreadable"] else 0)
    assert sum(day["events"] for day in after["days"]) == sum(day["events"] for day in before["days"])


def put_odd_record(archive: Path, dates: list[str]) -> None:
    """Add a record of an envelope whose moments are *dates*, which arrived at the first of them."""
    odd = redated(json.loads(history()[0].body), dates)
    line = json.dumps({"v": 1, "lane": "faults", "arrived_at": dates[0], "id": "odd", "envelope": odd}).encode()
    at = parse_time(dates[0]) if is_moment(dates[0]) else NOW
    FolderArchive(archive).put(object_key(EVENTS, at, "faults-0", line), gzip.compress(line + b"\n"))


@example(["9999-12-31T23:59:59.999999Z"])
@whatever_the_dates
def test_an_odd_record_breaks_nothing_either(
    tmp_path_factory: pytest.TempPathFactory, capsys: Shown, dates: list[str]
) -> None:
    folder = put_history(tmp_path_factory.mktemp("a") / "archive", happened(), past())
    put_odd_record(folder, dates)
    status, stats = run(capsys, "archive", "stats", folder)
    assert (sum(day["records"] for day in stats["days"]), status) in {(73, 0), (72, 1)}
    status, told = run(capsys, "policy", "record", past()[0].id, "--events", folder, "--policy", past()[0].policy.name)
    assert (status, told["incident"]) == (0, past()[0].id)
    assert run(capsys, "policy", "report", "--events", folder)[0] == 0


@whatever_the_dates
def test_the_odd_one_and_the_others_can_be_recorded_or_are_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, capsys: Shown, dates: list[str]
) -> None:
    folder = put_history(tmp_path_factory.mktemp("a") / "archive", happened(), past())
    put_odd(folder, past()[0], dates)
    status, told = run(capsys, "policy", "record", past()[0].id, "--events", folder, "--policy", past()[0].policy.name)
    assert (status, told["incident"]) == (0, past()[0].id)
    status, _ = run(capsys, "policy", "record", "0dd", "--events", folder, "--policy", past()[0].policy.name)
    assert status in {0, 1}


@whatever_the_dates
def test_the_past_is_told_again_as_before(
    tmp_path_factory: pytest.TempPathFactory, capsys: Shown, dates: list[str]
) -> None:
    folder = put_history(tmp_path_factory.mktemp("a") / "archive", happened(), past())
    _, before = run(capsys, "policy", "backtest", "--events", folder)
    put_odd(folder, past()[0], dates)
    status, after = run(capsys, "policy", "backtest", "--events", folder, "--plot", folder / "plot.svg")
    assert status == 0
    assert after["after"] == before["after"]


def test_what_lies_years_off_is_no_end_of_an_archive(archive: Path, capsys: Shown) -> None:
    put_odd(archive, past()[0], ["9999-12-31T10:00:00.000000Z"])
    assert main(["policy", "report", "--events", str(archive)]) == 0
    shown = capsys.readouterr()
    assert "1 of 1 policies in shadow would have acted" in shown.out
    assert "9999-12-31: it lies more than a year from the rest" in shown.err
