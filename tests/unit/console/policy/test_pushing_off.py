"""Off must not wait: `relight policy push --mode off` turns off what stands in the table, and nobody loses an edit."""

from pathlib import Path

import pytest

from policies.contract.vocabulary import PolicyMode
from tests.tools.editing import DOCUMENT, NAME, OTHER, Desk, Person

Shown = pytest.CaptureFixture[str]


def test_off_waits_for_nobodys_edit_and_loses_none(desk: Desk, kim: Person) -> None:
    kim.push()
    desk.in_console(priority=9)
    assert kim.push(mode="off") == 0
    assert desk.fields() == {**DOCUMENT, "priority": 9, "mode": "off"}
    assert desk.head().mode is PolicyMode.OFF
    assert kim.push(mode="off") == 0
    assert kim.push() == 1, "off was written by this folder, the edit was not"
    assert desk.fields()["priority"] == 9


@pytest.mark.parametrize("wait", [0.0, 60.0])
def test_off_takes_effect_where_the_item_holds_an_edit_that_was_refused(
    desk: Desk, kim: Person, wait: float, capsys: Shown
) -> None:
    kim.push()
    desk.in_console(settle="soon")
    assert kim.push() == 1, "nobody's edit is written over"
    assert kim.push(mode="off", wait_seconds=wait) == 0
    assert desk.fields() == {**DOCUMENT, "settle": "soon", "mode": "off"}
    assert (desk.head().mode, desk.head().revision) == (PolicyMode.OFF, 2)
    if wait:
        assert f"off        {NAME} (revision 2); the rest of {NAME} stays refused" in capsys.readouterr().out
        assert kim.answer.left
    assert kim.push(mode="off") == 0
    assert desk.head().revision == 2


def test_off_loses_no_edit_to_the_one_pipeline_that_pushes_either(desk: Desk, tmp_path: Path, capsys: Shown) -> None:
    runner = Person(desk, tmp_path / "runner", DOCUMENT)
    assert runner.push(source="main") == 0
    desk.in_console(settle="77s")
    assert runner.push(source="main", mode="off") == 0
    assert "what was edited in the table stays in it" in capsys.readouterr().out
    assert Person(desk, tmp_path / "runner-9", DOCUMENT).push(source="main") == 1
    assert desk.fields() == {**DOCUMENT, "settle": "77s", "mode": "off"}


def test_off_of_one_file_that_was_edited_meanwhile_is_no_false_alarm(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.push()
    desk.in_console(settle="77s")
    assert kim.push(paths=[kim.folder / f"{NAME}.yaml"], mode="off") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("odd", [b"bytes", float("nan"), {"a", "b"}], ids=["bytes", "no number", "a set"])
@pytest.mark.parametrize("mode", ["", "keep", "off"])
def test_what_no_command_can_write_is_turned_off_as_it_is_in_force_once_it_may_be_written_over(
    desk: Desk, kim: Person, mode: str, odd: object
) -> None:
    kim.write(OTHER)
    kim.push()
    (kim.folder / f"{NAME}.yaml").unlink()
    desk.in_console(why=odd)
    assert kim.push(prune=True, mode=mode) == 1, "somebody edited it"
    assert desk.fields()["why"] is odd
    assert kim.push(prune=True, mode=mode, force=True) == 0
    assert desk.head().mode is PolicyMode.OFF
    assert desk.fields()["mode"] == "off"


def test_what_was_never_in_force_and_never_can_be_is_nothing_to_turn_off(desk: Desk, kim: Person) -> None:
    kim.write(OTHER)
    kim.push()
    (kim.folder / f"{NAME}.yaml").unlink()
    del desk.table.in_force[NAME]
    desk.table.live_items[NAME]["why"] = b"bytes"
    assert kim.push(prune=True, force=True) == 0
    assert desk.fields()["why"] == b"bytes"
