"""History names who, when, why and what; a roll-back restores byte for byte; a diff says what differs."""

import json
from dataclasses import replace

import pytest

from console.policy.comparing import compare
from console.policy.history import show_revision, tell_history
from console.policy.past import past_of
from functions.ports.policies import UNKNOWN, EditedMeanwhileError, Head
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, fingerprint
from policies.yaml_text import read_yaml
from tests.tools.editing import DOCUMENT, NAME, OTHER, Desk, Person

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def kim(desk: Desk, kim: Person) -> Person:
    """Pushed once, and again with a longer settle; then somebody in the console changed the priority."""
    kim.push(reason="the first")
    kim.write({**DOCUMENT, "settle": "20s"})
    kim.push(reason="too quick")
    desk.in_console(priority=9)
    return kim


def test_history_says_who_when_why_and_what(desk: Desk, kim: Person, capsys: Shown) -> None:
    capsys.readouterr()
    assert tell_history(desk.table, NAME, as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("rev")] == [["rev", "3"], ["rev", "2"], ["rev", "1"]]
    assert f"active  {UNKNOWN}" in lines[0]
    assert lines[1].strip() == "+ priority: 9"
    assert lines[2].endswith("active  kim: pushed from kim; too quick")
    assert lines[3].strip() == "~ settle: 10s → 20s"
    assert tell_history(desk.table, NAME, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["in_force"] == 3
    assert [one["by"] for one in told["revisions"]] == [UNKNOWN, "kim", "kim"]
    assert told["revisions"][1]["changes"] == [{"path": "settle", "before": "10s", "after": "20s"}]
    assert tell_history(desk.table, "nobody", as_json=False) == 1


def test_a_revision_that_never_came_into_force_says_so(desk: Desk, kim: Person, capsys: Shown) -> None:
    desk.table.put_revision(type(desk.head())(NAME, 4, "h", PolicyMode.ACTIVE, "{}"))
    desk.in_console(priority=8)
    capsys.readouterr()
    tell_history(desk.table, NAME, as_json=True)
    told = {one["revision"]: one["in_force"] for one in json.loads(capsys.readouterr().out)["revisions"]}
    assert told == {5: True, 4: False, 3: True, 2: True, 1: True}
    assert kim.roll_back() == 0
    assert desk.head().document == desk.table.kept[NAME, 3].document


def test_a_revision_that_does_not_say_what_it_followed_followed_the_newest_before_it() -> None:
    told = [Head(NAME, number, f"{number}" * 64, PolicyMode.ACTIVE, json.dumps({"name": NAME})) for number in (1, 4)]
    newest, first = past_of(told[1], told)
    assert (newest.before, first.before) == (told[0], None)
    assert newest.in_force
    assert first.in_force


@pytest.mark.parametrize("to", [0, 1, 2])
def test_a_roll_back_restores_byte_for_byte_and_says_who_and_why(desk: Desk, kim: Person, to: int) -> None:
    assert kim.roll_back(to=to, reason="it paged all night") == 0
    head, old = desk.head(), desk.table.kept[NAME, to or 2]
    assert (head.revision, head.document, head.hash) == (4, old.document, old.hash)
    assert desk.fields() == json.loads(old.document)
    assert (head.edit.by, head.edit.reason, head.edit.restored) == ("kim", "it paged all night", to or 2)


def test_going_back_twice_goes_back_two_steps(desk: Desk, kim: Person, capsys: Shown) -> None:
    assert [kim.roll_back(), kim.roll_back(), kim.roll_back()] == [0, 0, 1]
    assert desk.head().document == desk.table.kept[NAME, 1].document
    assert "nothing before" in capsys.readouterr().err


def test_what_was_deleted_comes_back_as_it_was(desk: Desk, kim: Person) -> None:
    before = desk.head()
    desk.delete()
    assert desk.head().mode is PolicyMode.OFF
    assert kim.roll_back(to=4) == 1, "a deletion is nothing to go back to"
    assert kim.roll_back() == 0
    assert (desk.head().document, desk.head().mode) == (before.document, PolicyMode.ACTIVE)


def test_a_deletion_is_no_step_back(desk: Desk, kim: Person) -> None:
    desk.delete()
    desk.table.put_live({**DOCUMENT, "settle": "30s"})
    desk.look()
    assert (desk.head().revision, kim.roll_back()) == (5, 0)
    assert desk.head().edit.restored == 3


def test_who_edits_while_a_roll_back_looks_loses_nothing(
    desk: Desk, kim: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = desk.table.revision

    def meanwhile(name: str, number: int) -> Head | None:
        desk.table.live_items[name]["priority"] = 5
        return look(name, number)

    monkeypatch.setattr(desk.table, "revision", meanwhile)
    with pytest.raises(EditedMeanwhileError):
        kim.roll_back(to=1)
    assert desk.fields()["priority"] == 5


def test_what_is_rolled_back_is_still_pushed_from_its_folder(desk: Desk, kim: Person, capsys: Shown) -> None:
    """Or `push --prune` would say nothing of it, and leave it in force for ever."""
    assert kim.roll_back(to=1) == 0
    (kim.folder / f"{NAME}.yaml").unlink()
    kim.write(OTHER)
    assert kim.push(prune=True) == 1
    assert f"CONFLICT   {NAME}: it is not in the folder any more, and was edited" in capsys.readouterr().out


def test_a_revision_that_is_refused_today_is_not_called_in_force(desk: Desk, kim: Person, capsys: Shown) -> None:
    old = {**DOCUMENT, "settle": "soon"}
    desk.table.kept[NAME, 1] = replace(desk.table.kept[NAME, 1], document=canonical(old), hash=fingerprint(old))
    assert kim.roll_back(to=1) == 1
    told = capsys.readouterr()
    assert ("revision 1 of" in told.err, "is refused today" in told.err, "in force" in told.out) == (True, True, False)
    assert desk.head().revision == 3


def test_a_refused_edit_is_taken_back_by_name(desk: Desk, kim: Person, capsys: Shown) -> None:
    desk.in_console(settle="soon")
    assert kim.roll_back() == 1
    assert "--to 3 takes it back" in capsys.readouterr().err
    assert kim.roll_back(to=3) == 0
    assert desk.head().revision == 3
    assert desk.table.live_items[NAME]["verdict"]["status"] == "accepted"
    assert kim.roll_back(to=3) == 0
    assert kim.roll_back(to=99) == 1
    assert kim.roll_back("nobody") == 1


@pytest.mark.parametrize("to", [0, 2])
@pytest.mark.parametrize("broken", ['{"name": "another"}', "no JSON", "[1, 2]"])
def test_a_revision_that_was_changed_by_hand_is_never_restored(
    desk: Desk, kim: Person, to: int, broken: str, capsys: Shown
) -> None:
    desk.table.kept[NAME, 2] = replace(desk.table.kept[NAME, 2], document=broken)
    before = desk.fields()
    assert kim.roll_back(to=to) == 1
    assert f"revision 2 of {NAME} was changed by hand." in capsys.readouterr().err
    assert (desk.fields(), desk.head().revision) == (before, 3)


def test_a_roll_back_counts_as_an_edit_in_the_table_for_the_next_push(desk: Desk, kim: Person) -> None:
    kim.roll_back()
    kim.write({**DOCUMENT, "settle": "30s"})
    assert kim.push() == 0, "it is what this folder pushed last"
    kim.roll_back(to=1)
    kim.write({**DOCUMENT, "settle": "40s"})
    assert kim.push() == 1


def test_a_revision_is_shown_as_a_file(desk: Desk, kim: Person, capsys: Shown) -> None:
    capsys.readouterr()
    assert show_revision(desk.table, NAME, 2, as_json=False) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# rev 2 ")
    assert read_yaml(shown) == {**DOCUMENT, "settle": "20s"}
    assert show_revision(desk.table, NAME, 1, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["document"] == DOCUMENT
    assert show_revision(desk.table, NAME, 9, as_json=False) == 1
    del kim


def test_a_diff_tells_files_from_the_table(desk: Desk, kim: Person, capsys: Shown) -> None:
    kim.write(OTHER)
    desk.table.put_live({**DOCUMENT, "name": "theirs"})
    capsys.readouterr()
    assert compare(desk.table, [str(kim.folder)], "", as_json=True) == 1
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)["differences"]}
    assert told[NAME]["changes"] == [{"path": "priority", "before": 9}]
    assert told[OTHER["name"]]["what"] == "only in the files"
    assert told["theirs"]["what"] == "only in the table"
    file = kim.folder / f"{NAME}.yaml"
    kim.pull(NAME)
    capsys.readouterr()
    assert compare(desk.table, [str(file)], "", as_json=False) == 0
    assert capsys.readouterr().out == "1 the same, 0 not.\n"


@pytest.mark.parametrize(
    ("revisions", "status", "changed"),
    [
        *(("1..2", 1, ["settle"]), ("1", 1, ["settle", "priority"]), ("3..3", 0, [])),
        *((wrong, 2, list[str]()) for wrong in ("1..9", "x", "9" * 5000, "٣")),
    ],
)
def test_a_diff_of_revisions(
    desk: Desk, kim: Person, capsys: Shown, revisions: str, status: int, changed: list[str]
) -> None:
    capsys.readouterr()
    assert compare(desk.table, [NAME], revisions, as_json=True) == status
    shown = capsys.readouterr().out
    found = json.loads(shown)["differences"] if shown else []
    assert sorted(one["path"] for each in found for one in each["changes"]) == sorted(changed)
    del kim


def test_a_diff_of_a_name_is_its_item_against_what_is_in_force(desk: Desk, kim: Person, capsys: Shown) -> None:
    assert compare(desk.table, [NAME], "", as_json=False) == 0
    desk.in_console(settle="soon")
    capsys.readouterr()
    assert compare(desk.table, [NAME], "", as_json=False) == 1
    assert "~ settle: 20s → soon" in capsys.readouterr().out
    assert compare(desk.table, ["nobody"], "", as_json=False) == 2
    desk.delete()
    assert compare(desk.table, [NAME], "", as_json=False) == 0, "deleted and off is no difference"
    del kim


def test_examples_are_compared_by_what_they_say(desk: Desk, kim: Person, capsys: Shown) -> None:
    examples = [dict(one) for one in DOCUMENT["examples"]]
    examples[1] = {**examples[1], "instance_type": "p6-b200.48xlarge"}
    desk.in_console(examples=examples)
    capsys.readouterr()
    compare(desk.table, [NAME], "3..4", as_json=False)
    assert f"+ examples.“{examples[1]['says']}”.instance_type: p6-b200.48xlarge" in capsys.readouterr().out
    del kim


def test_what_is_off_in_the_table_and_not_in_the_folder_is_no_drift(desk: Desk, kim: Person, capsys: Shown) -> None:
    assert kim.pull() == 0
    Person(desk, kim.folder.parent / "ann", OTHER).push()
    assert compare(desk.table, [str(kim.folder)], "", as_json=False) == 1
    assert f"only in the table  {OTHER['name']} (pushed from ann)" in capsys.readouterr().out
    desk.in_console(OTHER["name"], mode="off")
    assert compare(desk.table, [str(kim.folder)], "", as_json=False) == 0


def test_of_many_that_others_pushed_a_diff_tells_how_many_and_of_ones_own_each(
    desk: Desk, kim: Person, capsys: Shown
) -> None:
    assert kim.pull() == 0
    kim.write(OTHER)
    assert kim.push() == 0
    (kim.folder / f"{OTHER['name']}.yaml").unlink()
    theirs = [{**OTHER, "name": f"theirs-{number}"} for number in range(6)]
    Person(desk, kim.folder.parent / "ann", *theirs).push()
    capsys.readouterr()
    assert compare(desk.table, [str(kim.folder)], "", as_json=False) == 1
    told = capsys.readouterr().out
    assert f"only in the table  {OTHER['name']} (pushed from kim)\n" in told
    assert "only in the table  6 that were not pushed from here: theirs-0, theirs-1, theirs-2 and 3 more\n" in told
    assert told.endswith("\n1 the same, 7 not.\n")
    compare(desk.table, [str(kim.folder)], "", as_json=True)
    assert len(json.loads(capsys.readouterr().out)["differences"]) == 7


def test_a_file_that_is_no_policy_is_not_called_the_same(desk: Desk, kim: Person, capsys: Shown) -> None:
    assert kim.pull() == 0
    (kim.folder / "junk.yaml").write_text("{")
    assert compare(desk.table, [str(kim.folder)], "", as_json=False) == 2
    assert "relight policy lint" in capsys.readouterr().err
