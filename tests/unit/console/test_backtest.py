"""`relight policy backtest` on a folder: the table, the JSON, the picture, and when it fails."""

import json
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from console.main import main
from functions.adapters.archive_folder import FolderArchive
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, put_history, revision, shelved


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a folder with a past in which only one of two policies was in force."""
    happened = revision(head(documents()[0]), NOW - timedelta(hours=1))
    past = incidents(history(), Question(Revisions.of(happened)))
    return put_history(tmp_path / "archive", happened, past)


@pytest.fixture
def candidate(tmp_path: Path) -> Path:
    folder = tmp_path / "candidate"
    folder.mkdir()
    for document in documents():
        (folder / f"{document['name']}.yaml").write_text(yaml.safe_dump(document))
    return folder


def backtest(*words: str | Path) -> int:
    return main(["policy", "backtest", *map(str, words)])


def test_the_past_as_it_was_has_nothing_new(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert backtest("--events", archive) == 0
    said = capsys.readouterr().out
    assert "same: 6 with acts" in said
    assert "new acts: 0" in said


def test_a_candidate_is_told_with_its_new_acts_and_refused_beyond_the_limit(
    archive: Path, candidate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "plot.svg"
    words = ("--events", archive, "--policies", candidate, "--json", "--plot", plot, "--most-new-acts")
    assert backtest(*words, "6") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["new_acts"] == 6
    assert told["differences"] == {"same": 6, "new": 6}
    new = [each["after"] for each in told["matters"] if each["difference"] == "new"]
    assert {each["policy"] for each in new} == {"contained"}
    assert {each["job"] for each in new} == {"train/llm"}
    assert told["after"]["gpu_hours"]["stopped"] > told["before"]["gpu_hours"]["stopped"] == 0
    assert told["after"]["usd"] > told["before"]["usd"]
    drawn = ET.fromstring(plot.read_text())
    bars = [each for each in drawn.iter() if each.tag.endswith("rect") and len(each)]
    assert len(bars) == 18, "two for what is in both"
    assert backtest(*words, "5") == 1


def test_what_the_current_policies_would_do_can_be_the_measure(
    archive: Path, candidate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert backtest("--events", archive, "--policies", candidate, "--against", "current", "--json") == 0
    assert json.loads(capsys.readouterr().out)["differences"] == {"same": 6, "new": 6}
    assert backtest("--events", archive, "--policies", "current", "--against", "current", "--json") == 0
    assert json.loads(capsys.readouterr().out)["differences"] == {"same": 6}


def test_what_only_tells_is_counted_and_shown_only_when_all_is_asked_for(
    archive: Path, candidate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = candidate / "contained.yaml"
    file.write_text(yaml.safe_dump({**documents()[1], "do": ["alert"], "otherwise": []}))
    words = ("--events", archive, "--policies", candidate, "--most-new-acts", "0")
    assert backtest(*words) == 0
    brief = capsys.readouterr().out
    assert "new: 0 with acts, 6 that only tell" in brief
    assert [line for line in brief.splitlines() if line.startswith("new ")] == []
    assert backtest(*words, "--all") == 0
    assert len([line for line in capsys.readouterr().out.splitlines() if line.startswith("new ")]) == 6


def test_money_is_the_hours_at_the_price_that_was_given(
    archive: Path, candidate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accounts = []
    for price in ("1", "1000"):
        assert backtest("--events", archive, "--policies", candidate, "--json", "--gpu-hour-price", price) == 0
        accounts.append(json.loads(capsys.readouterr().out)["after"])
    assert accounts[0]["usd"] > 0
    assert accounts[1]["usd"] / 1000 == pytest.approx(accounts[1]["gpu_hours"]["all"], abs=0.001)
    assert accounts[1]["usd"] / 1000 == pytest.approx(accounts[0]["usd"], abs=0.01)


def test_several_processes_print_the_very_same(
    archive: Path, candidate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    words = ("--events", archive, "--policies", candidate, "--against", "current", "--json", "--jobs")
    for jobs in (1, 2):
        assert backtest(*words, f"{jobs}") == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_a_part_of_the_period_tells_only_of_that_part(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert backtest("--events", archive, "--from", "2026-03-01T11:00", "--to", "2026-03-01T11:22", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["after"]["counts"]["records"] == 14
    assert all(each["after"] is None or each["after"]["opened_at"] >= told["from"] for each in told["matters"])


def test_what_cannot_be_answered_says_what_to_do(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert backtest("--events", tmp_path / "nowhere") == 2
    assert "events/" in capsys.readouterr().err
    assert backtest("--events", archive, "--policies", tmp_path) == 1
    assert "no policy here" in capsys.readouterr().err
    assert backtest("--events", archive, "--from", "2027-01-01", "--to", "2026-01-01") == 2
    assert "before it begins" in capsys.readouterr().err


def test_damaged_lines_are_counted_and_told(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = next((archive / "events").rglob("*.gz"))
    one.write_bytes(one.read_bytes()[:-20])
    assert backtest("--events", archive) == 0
    assert "could not be read" in capsys.readouterr().out


def test_a_long_one_goes_on_where_it_was_stopped(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = FolderArchive(archive)
    later = [each._replace(arrived_at=each.arrived_at + timedelta(days=2)) for each in history(rounds=1)]
    for key, body in shelved(later).objects.items():
        folder.put(key, body)
    words = ("--events", archive, "--json")
    assert backtest(*words) == 0
    whole = json.loads(capsys.readouterr().out)
    for _again in range(2):
        assert backtest(*words, "--resume", tmp_path / "kept") == 0
        assert json.loads(capsys.readouterr().out) == whole
    assert list((tmp_path / "kept").rglob("replay.jsonl.gz"))


def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_replayed(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (tmp_path, tmp_path / "no" / "such" / "folder.svg", "9" * 300):
        with pytest.raises(SystemExit) as stopped:
            backtest("--events", archive, "--plot", place)
        assert stopped.value.code == 2
        assert "cannot be written: name a file in a folder that is there" in capsys.readouterr().err


def test_a_picture_is_written_under_no_other_ending(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("x.png", "x", "svg"):
        with pytest.raises(SystemExit) as stopped:
            backtest("--events", archive, "--plot", tmp_path / name)
        assert stopped.value.code == 2
        assert "does not end in .svg" in capsys.readouterr().err
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("columns", ["40", "80", "300"])
def test_what_differs_can_be_read_in_any_terminal(
    archive: Path, candidate: Path, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert backtest("--events", archive, "--policies", candidate) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= int(columns)
    assert "node-of-i-1, run train/llm: contained r1" in " ".join(shown.split())
    assert "would be isolate → collect_evidence → suspend_job" in " ".join(shown.split())
    assert shown.count("no incident") == 6, "as it was"


def test_json_and_a_pipe_get_the_answer_alone(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert backtest("--events", archive, "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["new_acts"] == 0
    assert shown.err == "", "no bar where nobody looks"


def test_two_files_of_one_policy_are_refused_as_a_push_refuses_them(
    archive: Path, candidate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (candidate / "zz.yaml").write_text((candidate / "contained.yaml").read_text())
    assert backtest("--events", archive, "--policies", candidate) == 1
    assert f"contained stands in {candidate}/contained.yaml too" in capsys.readouterr().err
