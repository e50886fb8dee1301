"""Two persons who edit, from folders and in the console, do not lose one's work; what differs is shown before."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from console.asked_wrongly import AskedWronglyError
from console.policy.edits import SHIPPED_SOURCE, Editor
from console.policy.folder import SEEN
from console.policy.planning import Planned
from functions.ports.policies import UNKNOWN
from policies.contract.vocabulary import PolicyMode
from tests.tools.editing import DOCUMENT, NAME, OTHER, Desk, Person
from tests.tools.envelopes import SHIPPED

Shown = pytest.CaptureFixture[str]


def test_a_push_says_who_why_and_from_where(desk: Desk, kim: Person) -> None:
    assert kim.push(reason="the first") == 0
    edit = desk.head().edit
    assert (edit.by, edit.reason, edit.source) == ("kim", "the first", "kim")
    assert json.loads((kim.folder / SEEN).read_text())["policies"] == {NAME: desk.head().hash}


def test_what_a_push_changes_is_shown_field_by_field(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.push()
    kim.write({**DOCUMENT, "settle": "20s", "priority": 5})
    assert kim.push(dry_run=True) == 0
    shown = capsys.readouterr().out
    assert "~ settle: 10s → 20s" in shown
    assert "+ priority: 5" in shown
    assert desk.head().revision == 1
    assert kim.push() == 0
    assert desk.head().revision == 2


def test_an_edit_in_the_console_is_not_written_over(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.push()
    desk.in_console(priority=9)
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push() == 1
    shown = capsys.readouterr()
    assert f"CONFLICT   {NAME}: it was edited in the table by somebody unknown (AWS's console, or a" in shown.out
    assert "(revision 2) since this folder last saw it." in shown.out
    assert "Nothing was written" in shown.err
    assert desk.fields()["priority"] == 9
    assert kim.push(force=True) == 0
    assert desk.fields() == {**DOCUMENT, "settle": "20s"}


def test_an_edit_of_a_command_that_gave_no_name_is_not_put_down_to_the_console(
    desk: Desk, kim: Person, tmp_path: Path, capsys: Shown
) -> None:
    kim.push()
    other = Person(desk, tmp_path / "other", {**DOCUMENT, "priority": 9})
    assert other.push(editor=Editor(UNKNOWN, desk.now), force=True) == 0
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push() == 1
    assert f"{NAME}: it was edited in the table by somebody who gave no name" in capsys.readouterr().out


def test_of_two_clones_the_later_push_does_not_undo_the_earlier(desk: Desk, kim: Person, tmp_path: Path) -> None:
    kim.push()
    ann = Person(desk, tmp_path / "ann")
    ann.pull()
    kim.write({**DOCUMENT, "settle": "20s"})
    ann.write({**DOCUMENT, "priority": 5})
    assert kim.push() == 0
    assert ann.push() == 1
    assert desk.fields()["settle"] == "20s"
    ann.write(DOCUMENT)
    assert ann.pull() == 0
    assert ann.push() == 0


def test_a_folder_that_never_saw_the_table_writes_over_nothing(desk: Desk, kim: Person, tmp_path: Path) -> None:
    kim.push()
    ann = Person(desk, tmp_path / "ann", {**DOCUMENT, "settle": "20s"}, OTHER)
    assert ann.push() == 1
    assert OTHER["name"] not in desk.table.live_items, "nothing at all was written"


def test_the_one_pipeline_that_pushes_needs_no_memory_but_sees_edits_in_the_table(desk: Desk, tmp_path: Path) -> None:
    for number in range(2):
        runner = Person(desk, tmp_path / f"runner-{number}", {**DOCUMENT, "priority": number})
        assert runner.push(source="main") == 0
    assert (desk.head().revision, desk.head().edit.source) == (2, "main")
    desk.in_console(settle="20s")
    assert Person(desk, tmp_path / "runner-9", DOCUMENT).push(source="main") == 1


def test_what_comes_along_may_be_written_over_by_ones_own(desk: Desk, tmp_path: Path) -> None:
    shipped = Person(desk, tmp_path / "kim")
    (file,) = SHIPPED.glob(f"{NAME}.yaml")
    assert shipped.push(paths=[file]) == 0
    assert desk.head().edit.source == SHIPPED_SOURCE
    assert not (SHIPPED / SEEN).exists()
    assert Person(desk, tmp_path / "ann", DOCUMENT).push() == 0


def test_the_revision_that_is_expected_may_be_written_over_and_no_other(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.push()
    desk.in_console(priority=9)
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push(expected=1) == 1
    assert "revision 2 is in force by somebody unknown (AWS's console, or a program)" in capsys.readouterr().out
    desk.in_console(settle="soon")
    assert kim.push(expected=2) == 1, "that edit came after it, though it is not in force"
    desk.in_console(settle="10s")
    assert kim.push(expected=2) == 0


def test_a_revision_that_is_expected_and_not_there_is_told_though_the_file_changes_nothing(
    desk: Desk, kim: Person, capsys: Shown
) -> None:
    kim.push()
    assert kim.push(expected=1) == 0
    assert kim.push(expected=7) == 1
    told = capsys.readouterr()
    assert f"CONFLICT   {NAME}: revision 1 is in force, not 7; it says what the file says." in told.out
    assert "another revision is in force than you expected. Nothing was written" in told.err
    kim.write({**DOCUMENT, "settle": "20s"})
    assert [kim.push(expected=1), kim.push(expected=1)] == [0, 0], "again is the same, also of what was stopped"
    assert (desk.head().revision, kim.push(expected=7, force=True)) == (2, 0)


def test_who_edits_between_the_look_and_the_write_loses_nothing(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.push()
    kim.write({**DOCUMENT, "settle": "20s"})

    def meanwhile(_planned: Sequence[Planned]) -> str:
        desk.in_console(priority=9)
        return ""

    assert kim.push(gates=[meanwhile]) == 1
    assert "was edited in the table just now: not written" in capsys.readouterr().err
    assert (desk.fields()["priority"], desk.fields()["settle"]) == (9, "10s")
    assert kim.push() == 1, "it was not taken for seen either"


def test_a_gate_sees_what_would_be_written_and_may_refuse(desk: Desk, kim: Person, capsys: Shown) -> None:
    seen: list[str] = []

    def gate(planned: Sequence[Planned]) -> str:
        seen.extend(f"{each.doing} {each.name} {each.document['mode']}" for each in planned)
        return "it would act 12 times more."

    assert kim.push(gates=[gate], mode="shadow") == 1
    assert seen == [f"new {NAME} shadow"]
    assert "it would act 12 times more. Nothing was written." in capsys.readouterr().err
    assert desk.table.live_items == {}


def test_prune_turns_off_what_this_folder_pushed_and_has_no_more(
    desk: Desk, kim: Person, tmp_path: Path, capsys: Shown
) -> None:
    kim.write(OTHER)
    kim.push()
    theirs = {**DOCUMENT, "name": "theirs"}
    Person(desk, tmp_path / "ann", theirs).push()
    (kim.folder / f"{NAME}.yaml").unlink()
    assert kim.push() == 0
    assert f"not in the folder  {NAME}" in capsys.readouterr().out
    assert desk.head().mode is PolicyMode.ACTIVE
    assert kim.push(prune=True, reason="not ours any more") == 0
    assert (desk.head().mode, desk.head().edit.by, desk.head().edit.reason) == (
        PolicyMode.OFF,
        "kim",
        "not ours any more",
    )
    assert desk.head("theirs").mode is PolicyMode.ACTIVE
    assert desk.head(OTHER["name"]).mode is PolicyMode.ACTIVE
    assert kim.push(prune=True) == 0
    assert desk.head().revision == 2
    kim.write(DOCUMENT)
    assert kim.push() == 0
    assert desk.head().mode is PolicyMode.ACTIVE


def test_prune_leaves_alone_what_somebody_edited_since(desk: Desk, kim: Person) -> None:
    kim.write(OTHER)
    kim.push()
    desk.in_console(priority=9)
    (kim.folder / f"{NAME}.yaml").unlink()
    assert kim.push(prune=True) == 1
    assert desk.head().mode is PolicyMode.ACTIVE


def test_prune_is_for_a_whole_folder(desk: Desk, kim: Person) -> None:
    with pytest.raises(AskedWronglyError, match="the whole of a source"):
        kim.push(paths=[kim.folder / f"{NAME}.yaml"], prune=True)
    assert desk.table.live_items == {}


def test_a_deletion_in_the_table_is_not_undone_by_the_next_push(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.push()
    desk.delete()
    assert kim.push() == 1
    assert "its item was deleted in the table" in capsys.readouterr().out
    assert kim.push(force=True) == 0


def test_whoever_meets_a_deletion_is_told_how_it_comes_back(desk: Desk, kim: Person, capsys: Shown) -> None:
    """And not to pull what is not there, or to turn off what is off."""
    kim.push()
    desk.delete()
    back = f"`relight policy rollback {NAME}` brings it back"
    assert kim.push() == 1
    told = capsys.readouterr()
    assert (back in told.out, "relight policy pull" in told.err) == (True, False)
    assert kim.pull(NAME) == 1
    assert f"{NAME}: its item was deleted. {back}" in capsys.readouterr().err
    assert kim.pull("nobody") == 1
    assert "nobody: there is no such item" in capsys.readouterr().err
    assert kim.roll_back(to=2) == 1
    assert "revision 2 is a deletion: it is off." in capsys.readouterr().err
    assert kim.roll_back() == 0
    assert kim.push() == 0, "what came back is what this folder pushed"
    assert kim.roll_back(to=2) == 1
    assert f"revision 2 is a deletion: `relight policy set-mode {NAME} off`" in capsys.readouterr().err


def test_whoever_waits_hears_what_the_guard_says(desk: Desk, kim: Person, capsys: Shown) -> None:
    assert kim.push(wait_seconds=60.0) == 0
    assert f"accepted   {NAME} (revision 1)" in capsys.readouterr().out


def test_of_two_folders_each_is_the_source_of_its_own(desk: Desk, kim: Person, tmp_path: Path) -> None:
    ann = Person(desk, tmp_path / "ann", OTHER)
    assert kim.push(paths=[kim.folder, ann.folder]) == 0
    assert (desk.head().edit.source, desk.head(OTHER["name"]).edit.source) == ("kim", "ann")
    assert kim.push(prune=True) == 0
    assert desk.head(OTHER["name"]).mode is PolicyMode.ACTIVE
