"""A pull brings the table into a folder: files that nobody edited follow it, and nobody's edit is written over."""

import json
from pathlib import Path

import pytest

from console.policy.folder import SEEN
from functions.ports.policies import UNKNOWN
from tests.tools.editing import DOCUMENT, NAME, OTHER, Desk, Person
from tests.tools.envelopes import SHIPPED

Shown = pytest.CaptureFixture[str]


def test_a_pull_writes_files_that_push_unchanged(desk: Desk, kim: Person, tmp_path: Path, capsys: Shown) -> None:
    kim.write(OTHER)
    kim.push()
    ann = Person(desk, tmp_path / "ann")
    assert ann.pull() == 0
    assert {file.name for file in ann.folder.glob("*.yaml")} == {f"{NAME}.yaml", f"{OTHER['name']}.yaml"}
    assert ann.push() == 0
    assert f"unchanged  {NAME}" in capsys.readouterr().out
    assert desk.head().revision == 1


def test_a_pull_keeps_comments_and_files_that_say_the_same(desk: Desk, kim: Person) -> None:
    file = kim.folder / f"{NAME}.yaml"
    file.write_text("# ours\n" + file.read_text().replace("settle: 10s", "settle: 10s  # measured in May"))
    kim.push()
    before = file.read_bytes()
    assert kim.pull() == 0
    assert file.read_bytes() == before
    desk.in_console(priority=9)
    assert kim.pull() == 0
    text = file.read_text()
    assert "# ours\n" in text
    assert "# measured in May" in text
    assert "priority: 9\n" in text


def test_a_pull_never_writes_over_a_file_that_was_edited(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.push()
    desk.in_console(priority=9)
    file = kim.write({**DOCUMENT, "settle": "20s"})
    before = file.read_bytes()
    assert kim.pull() == 1
    assert "was edited here, and the table differs. --force takes the table's." in capsys.readouterr().err
    assert file.read_bytes() == before
    assert kim.push() == 1, "what could not be pulled was not seen"
    assert kim.pull(NAME, force=True) == 0
    assert "priority: 9" in file.read_text()


def test_a_file_that_was_pushed_in_another_mode_than_its_own_was_not_edited_and_follows(
    desk: Desk, kim: Person, capsys: Shown
) -> None:
    file = kim.write({**DOCUMENT, "mode": "shadow"})
    assert kim.push(mode="active") == 0
    assert kim.pull() == 0
    assert "\nmode: active\n" in file.read_text()
    assert "files" not in json.loads((kim.folder / SEEN).read_text()), "it says the same by now"
    kim.write({**DOCUMENT, "mode": "shadow"})
    assert kim.push(mode="active") == 0
    kim.write({**DOCUMENT, "mode": "off"})
    assert kim.pull() == 1
    assert "was edited here, and the table differs" in capsys.readouterr().err
    assert "\nmode: off\n" in file.read_text()


def test_a_copy_of_what_comes_along_was_edited_by_nobody_and_follows_the_table(
    desk: Desk, kim: Person, tmp_path: Path, capsys: Shown
) -> None:
    kim.push()
    ann = Person(desk, tmp_path / "ann")
    copy = ann.folder / f"{NAME}.yaml"
    copy.write_bytes((SHIPPED / copy.name).read_bytes())
    assert ann.pull() == 0
    assert "\nmode: active\n" in copy.read_text()
    copy.write_bytes((SHIPPED / copy.name).read_bytes())
    assert ann.pull() == 1, "who puts it back to what comes along has edited it"
    ben = Person(desk, tmp_path / "ben", {**DOCUMENT, "settle": "20s"})
    capsys.readouterr()
    assert ben.pull() == 1
    assert "differs from the table's, which it never saw. --force takes the table's." in capsys.readouterr().err


def test_a_pull_takes_no_edit_that_was_refused_and_none_that_is_not_there(desk: Desk, kim: Person) -> None:
    kim.push()
    desk.in_console(settle="soon")
    before = (kim.folder / f"{NAME}.yaml").read_bytes()
    assert kim.pull() == 1
    assert kim.pull("nobody") == 1
    assert (kim.folder / f"{NAME}.yaml").read_bytes() == before
    assert desk.head().edit.by != UNKNOWN


def test_a_pull_writes_no_file_that_nobody_could_read_again(desk: Desk, tmp_path: Path, capsys: Shown) -> None:
    example = next(iter(DOCUMENT["examples"]))
    odd = [{**event, "message": "\x80" * 2000} for event in example["events"]]
    many = [{**example, "says": f"{number}", "events": odd} for number in range(8)]
    desk.table.live_items[NAME] = {**DOCUMENT, "examples": many}
    desk.look()
    assert desk.head().revision == 1, "to the guard it is a policy"
    ann = Person(desk, tmp_path / "ann")
    assert ann.pull() == 1
    assert "as a file it is larger than the 65536 bytes" in capsys.readouterr().err
    assert not list(ann.folder.glob("*.yaml"))
