"""A back-test of fewer policies than are in force, or of some in shadow: it says what it leaves out, and why."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.main import main
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.replays import documents, head, history, incidents, lived, put_history

REPLACE, RESTART = documents()
Printed = pytest.CaptureFixture[str]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a folder with a past in which two policies acted, and a third was off."""
    happened, _told = lived([head(REPLACE), head(RESTART), head({**REPLACE, "name": "never", "mode": "off"})])
    return put_history(tmp_path / "archive", happened, incidents(history(), Question(Revisions.of(happened))))


def written(folder: Path, *those: dict[str, Any]) -> Path:
    folder.mkdir()
    for each in those:
        (folder / f"{each['name']}.yaml").write_text(yaml.safe_dump(each))
    return folder


def backtest(*words: str | Path) -> int:
    return main(["policy", "backtest", *map(str, words)])


def test_who_tries_some_of_the_policies_in_force_hears_that_the_others_are_taken_as_gone(
    archive: Path, tmp_path: Path, capsys: Printed
) -> None:
    folder = written(tmp_path / "mine", RESTART)
    assert backtest("--events", archive, "--policies", folder) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{folder} has 1 of the 2 policies that were in force when the archive ended" in said
    assert "the others are taken as gone (fell-off-the-bus): --overlay lays it over them, as a push does" in said
    written(tmp_path / "all", REPLACE, RESTART)
    assert backtest("--events", archive, "--policies", tmp_path / "all") == 0
    assert "taken as gone" not in capsys.readouterr().out


@pytest.mark.parametrize("what", ["folder", "file"])
def test_an_overlay_lies_on_what_is_in_force(what: str, archive: Path, tmp_path: Path, capsys: Printed) -> None:
    folder = written(tmp_path / "mine", {**RESTART, "mode": "shadow"})
    where = folder if what == "folder" else folder / "contained.yaml"
    assert backtest("--events", archive, "--policies", where, "--overlay", "--mode", "active", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (set(told["differences"]), told["new_acts"], told["notes"]) == ({"same"}, 0, [])
    assert backtest("--events", archive, "--policies", where, "--overlay") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "would be nothing; recorded, since the policy is shadow and does not act" in said
    assert f"contained acted then, and in {where} it is in shadow or off and does nothing: --mode keep takes" in said
    assert "taken as gone" not in said


def test_a_folder_in_shadow_may_keep_the_modes_that_were_in_force(
    archive: Path, tmp_path: Path, capsys: Printed
) -> None:
    never, new = ({**REPLACE, "name": name, "mode": "shadow"} for name in ("never", "new"))
    folder = written(tmp_path / "mine", *({**each, "mode": "shadow"} for each in (REPLACE, RESTART)), never, new)
    assert backtest("--events", archive, "--policies", folder, "--mode", "keep", "--all", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["new_acts"], told["notes"]) == (0, [])
    found = {each["after"]["policy"]: bool(each["after"]["acts"]) for each in told["matters"] if each["after"]}
    assert found == {"fell-off-the-bus": True, "contained": True, "new": False}, "what was off stays off"


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    """Return an archive that knows of a policy in force, and has not its revision."""
    made = [head(REPLACE), head(RESTART), head({**REPLACE, "name": "never", "mode": "off"})]
    happened = [told for told in lived(made)[0] if told.what != "policy" or told.document["name"] == RESTART["name"]]
    return put_history(tmp_path / "torn", happened, ())


@pytest.mark.parametrize("words", [("--policies", "current"), ("--against", "current"), ("--overlay",)])
def test_what_was_in_force_and_is_not_in_the_archive_is_left_out_and_said(
    words: tuple[str, ...], torn: Path, tmp_path: Path, capsys: Printed
) -> None:
    folder = written(tmp_path / "mine", {**RESTART, "settle": "20s"})
    mine = () if "--policies" in words else ("--policies", folder)
    assert backtest("--events", torn, *mine, *words, "--json") == 0
    told = json.loads(capsys.readouterr().out)["notes"]
    lost = [each for each in told if "is not in it" in each]
    assert lost == ["fell-off-the-bus revision 1 was in force when the archive ended and is not in it: it is left out"]
    assert backtest("--events", torn, "--policies", folder, "--json") == 0
    assert not [each for each in json.loads(capsys.readouterr().out)["notes"] if "is not in it" in each]


def test_a_mode_is_kept_though_the_revision_that_had_it_is_not_in_the_archive(
    torn: Path, tmp_path: Path, capsys: Printed
) -> None:
    folder = written(tmp_path / "mine", {**REPLACE, "mode": "shadow"})
    assert backtest("--events", torn, "--policies", folder, "--mode", "keep", "--json") == 0
    assert json.loads(capsys.readouterr().out)["new_acts"] > 0


@pytest.mark.parametrize("which", ["recorded", "current"])
def test_an_overlay_is_of_a_folder(archive: Path, which: str, capsys: Printed) -> None:
    assert backtest("--events", archive, "--policies", which, "--overlay") == 2
    assert "--overlay is of a folder of policies" in capsys.readouterr().err


def test_an_overlay_on_nothing_is_refused(tmp_path: Path, capsys: Printed) -> None:
    bare = put_history(tmp_path / "bare", [], [])
    assert backtest("--events", bare, "--policies", written(tmp_path / "mine", RESTART), "--overlay") == 2
    assert "no policy in force" in capsys.readouterr().err


def test_a_period_in_which_there_is_nothing_names_the_days_that_there_are(archive: Path, capsys: Printed) -> None:
    there = f"{archive} has records from 2026-03-01 to 2026-03-01 (UTC)"
    for option, moment, hint in (("--from", "2027-01-01", "an earlier"), ("--to", "2020-01-01", "a later")):
        assert backtest("--events", archive, option, moment) == 1
        assert f"{there}: give {hint} {option}." in capsys.readouterr().err


def test_it_says_where_the_picture_lies_beside_the_answer(archive: Path, tmp_path: Path, capsys: Printed) -> None:
    assert backtest("--events", archive, "--json", "--plot", tmp_path / "x.svg") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)
    assert f"the picture lies in {tmp_path / 'x.svg'}" in printed.err
