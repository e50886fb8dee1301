"""What whoever asks a back-test may not expect: modes of a folder, small figures, what an archive says of itself."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from console.archive.time_scale import FILE, tell_time_scale, time_scale_of
from console.backtest.screen import Shown, print_report
from console.main import main
from policies.contract.errors import BadInputError
from simulator.archive.reading import Told
from simulator.backtest import Account, Report
from simulator.costs import NOT_COUNTED, Cost
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, put_history, revision

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a folder with a past in which everything was in shadow."""
    happened = revision(head(documents("shadow")[0]), NOW - timedelta(hours=1))
    return put_history(tmp_path / "archive", happened, incidents(history(), Question(Revisions.of(happened))))


@pytest.fixture
def candidate(tmp_path: Path) -> Path:
    folder = tmp_path / "my-policies"
    folder.mkdir()
    for document in documents("shadow"):
        (folder / f"{document['name']}.yaml").write_text(yaml.safe_dump(document))
    return folder


def backtest(*words: str | Path) -> int:
    return main(["policy", "backtest", *map(str, words)])


def test_a_folder_in_shadow_does_nothing_and_says_how_to_ask(archive: Path, candidate: Path, capsys: Printed) -> None:
    assert backtest("--events", archive, "--policies", candidate) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "new acts: 0" in said
    assert f"every policy of {candidate} is in shadow or off, and so none does anything: ask again with --mode" in said


def test_what_if_it_were_armed_is_answered(archive: Path, candidate: Path, capsys: Printed) -> None:
    assert backtest("--events", archive, "--policies", candidate, "--mode", "active", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["new_acts"] > 0
    assert not [note for note in told["notes"] if "shadow" in note]
    assert "mode: shadow" in (candidate / "contained.yaml").read_text(), "no file is changed"


@pytest.mark.parametrize("which", ["recorded", "current"])
def test_a_mode_is_of_a_folder(archive: Path, which: str, capsys: Printed) -> None:
    assert backtest("--events", archive, "--policies", which, "--mode", "active") == 2
    assert "relight policy pull --to DIR" in capsys.readouterr().err


def test_of_a_single_day_nothing_is_kept_and_that_is_said(archive: Path, tmp_path: Path, capsys: Printed) -> None:
    assert backtest("--events", archive, "--resume", tmp_path / "kept") == 0
    assert f"nothing is kept in {tmp_path}/kept: a day is kept once the next begins" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        (Cost(), "0.0 GPU-hours (0.0 of runs that stood still, 0.0 of nodes out), 0 USD"),
        (Cost(0.014), "0.014 GPU-hours (0.014 of runs that stood still, 0.0 of nodes out), 0.07 USD"),
        (Cost(1.2), "1.2 GPU-hours (1.2 of runs that stood still, 0.0 of nodes out), 5.90 USD"),
        (Cost(0.0, 0.0001), "less than 0.001 GPU-hours"),
        (Cost(1234.56), "1,234.6 GPU-hours (1,234.6 of runs that stood still, 0.0 of nodes out), 6,074 USD"),
    ],
)
def test_small_figures_have_the_digits_that_tell_something(
    cost: Cost, told: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    account = Account([], cost)
    print_report(Report(NOW, NOW + timedelta(days=1), account, account, [], Told()), Shown(4.92))
    said = capsys.readouterr().out
    assert f"as it would be: {told}" in said
    assert NOT_COUNTED in said


def test_an_archive_tells_its_own_time_scale(archive: Path, capsys: Printed) -> None:
    assert time_scale_of(str(archive)) == time_scale_of("s3://bucket/prefix") == 1.0
    tell_time_scale(archive, 0.05)
    assert time_scale_of(str(archive)) == 0.05
    assert backtest("--events", archive, "--json") == 0
    by_itself = capsys.readouterr().out
    (archive / FILE).unlink()
    assert backtest("--events", archive, "--json", "--time-scale", "0.05") == 0
    assert capsys.readouterr().out == by_itself


@pytest.mark.parametrize(
    "text", ["", "[]", "{", *(f'{{"time_scale": {value}}}' for value in ("0", "NaN", '"soon"', "9" * 400))]
)
def test_a_time_scale_that_is_none_is_refused(text: str, archive: Path) -> None:
    (archive / FILE).write_text(text)
    with pytest.raises(BadInputError, match="tells no time_scale above 0"):
        time_scale_of(str(archive))
