"""A push disarms nobody by what came along in a file: that a policy is to stop acting has to be said."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from console.policy import comparing
from console.policy.planning import Planned
from policies.contract.vocabulary import PolicyMode
from tests.tools.editing import DOCUMENT, NAME, OTHER, Desk, Person

Shown = pytest.CaptureFixture[str]
ALSO = str(OTHER["name"])


def in_shadow(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "mode": "shadow"}


@pytest.fixture
def armed(desk: Desk, tmp_path: Path) -> Person:
    """Has two policies whose files say `shadow`, and pushed them armed."""
    ann = Person(desk, tmp_path / "ann", in_shadow(DOCUMENT), in_shadow(OTHER))
    assert ann.push(mode="active") == 0
    return ann


def modes(desk: Desk) -> list[str]:
    return [desk.head(name).mode.value for name in (NAME, ALSO)]


@pytest.mark.parametrize("mode", ["shadow", "off"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_files_that_would_disarm_what_acts_are_refused_and_the_ways_on_are_told(
    desk: Desk, armed: Person, mode: str, capsys: Shown, *, dry_run: bool
) -> None:
    armed.write({**DOCUMENT, "mode": mode, "settle": "20s"})
    capsys.readouterr()
    asked: list[int] = []

    def gate(planned: Sequence[Planned]) -> str:
        asked.append(len(planned))
        return ""

    words = ("policy", "push", "my files/", "--reason", "it's time")
    assert armed.push(words=words, dry_run=dry_run, gates=[gate]) == 1
    told = capsys.readouterr()
    assert "2 active policies would stop acting, for that is what their files say: " in told.err
    assert f"{ALSO}, {NAME}. Nothing was written." in told.err
    for way in ("keep", "file", "active"):
        assert f"\n  relight policy push --mode {way} 'my files/' --reason 'it'\"'\"'s time'\n" in told.err
    assert f"2 would stop acting: {ALSO}, {NAME}\n" in told.out
    assert modes(desk) == ["active", "active"]
    assert desk.fields()["settle"] == DOCUMENT["settle"], "nothing at all was written"
    assert asked == [], "nor was a long rehearsal begun"
    assert armed.answer.policies[NAME]["acting"] == "stops"
    assert armed.answer.left


def test_of_many_the_first_are_named_and_of_one_it_is_said_so(desk: Desk, tmp_path: Path, capsys: Shown) -> None:
    five = [{**DOCUMENT, "name": f"policy-{number}"} for number in range(5)]
    ann = Person(desk, tmp_path / "ann", *five)
    assert ann.push() == 0
    for one in five:
        ann.write(in_shadow(one))
    assert ann.push() == 1
    assert "policy-0, policy-1, policy-2 and 2 more. Nothing was written." in capsys.readouterr().err
    assert ann.push(paths=[ann.folder / "policy-3.yaml"]) == 1
    told = "1 active policy would stop acting, for that is what its file says: policy-3. Nothing was written."
    assert told in capsys.readouterr().err


def test_keep_lets_each_stay_in_the_mode_of_the_table_and_new_ones_take_the_files(
    desk: Desk, armed: Person, capsys: Shown
) -> None:
    new = {**DOCUMENT, "name": "one-more", "mode": "shadow"}
    armed.write({**in_shadow(DOCUMENT), "settle": "20s"})
    armed.write(new)
    assert armed.push(mode="keep") == 0
    assert desk.fields() == {**DOCUMENT, "settle": "20s"}
    assert desk.head("one-more").mode is PolicyMode.SHADOW
    assert modes(desk) == ["active", "active"]
    assert f"unchanged  {ALSO}" in capsys.readouterr().out
    assert armed.push(mode="keep") == 0
    assert desk.head().revision == 2, "again is the same"


@pytest.mark.parametrize("there", ["active", "shadow", "off"])
@pytest.mark.parametrize("in_file", ["active", "shadow", "off"])
def test_keep_neither_arms_nor_disarms_whatever_file_and_table_say(
    desk: Desk, kim: Person, there: str, in_file: str
) -> None:
    kim.push(mode=there)
    kim.write({**DOCUMENT, "mode": in_file, "settle": "20s"})
    assert kim.push(mode="keep") == 0
    assert (desk.head().mode, desk.fields()["settle"]) == (there, "20s")


def test_what_the_files_say_is_done_when_it_is_said_on_purpose(desk: Desk, armed: Person, capsys: Shown) -> None:
    assert armed.push(mode="file") == 0
    assert modes(desk) == ["shadow", "shadow"]
    assert f"2 would stop acting: {ALSO}, {NAME}\n" in capsys.readouterr().out


@pytest.mark.parametrize("mode", ["shadow", "off"])
def test_one_mode_for_all_is_said_on_purpose_too(desk: Desk, armed: Person, mode: str) -> None:
    assert armed.push(mode=mode) == 0
    assert modes(desk) == [mode, mode]


def test_a_push_that_disarms_nobody_needs_no_word_on_modes(desk: Desk, kim: Person) -> None:
    kim.write(in_shadow(DOCUMENT))
    assert kim.push() == 0
    kim.write({**DOCUMENT, "mode": "off"})
    assert kim.push() == 0, "a policy in shadow acts as little as one that is off"
    kim.write(DOCUMENT)
    assert kim.push() == 0
    assert kim.answer.policies[NAME]["acting"] == "begins"
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push() == 0
    assert "acting" not in kim.answer.policies[NAME]


def test_force_writes_over_edits_and_means_no_mode(desk: Desk, armed: Person) -> None:
    assert armed.push(force=True) == 1
    assert modes(desk) == ["active", "active"]
    assert armed.push(force=True, mode="file") == 0


def test_the_one_pipeline_that_pushes_disarms_nobody_either(desk: Desk, armed: Person, tmp_path: Path) -> None:
    runner = Person(desk, tmp_path / "runner", in_shadow(DOCUMENT), in_shadow(OTHER))
    assert armed.push(mode="active", source="main", force=True) == 0
    armed.write({**DOCUMENT, "priority": 3})
    assert armed.push(mode="active", source="main") == 0
    assert runner.push(source="main") == 1
    assert runner.push(source="main", mode="keep") == 0
    assert modes(desk) == ["active", "active"]


def test_what_prune_turns_off_was_asked_for(desk: Desk, armed: Person, capsys: Shown) -> None:
    armed.write(DOCUMENT)
    (armed.folder / f"{ALSO}.yaml").unlink()
    assert armed.push(prune=True) == 0
    assert modes(desk) == ["active", "off"]
    assert f"1 would stop acting: {ALSO}\n" in capsys.readouterr().out


def test_a_mode_that_a_person_set_in_the_table_is_no_edit_that_keep_would_lose(desk: Desk, kim: Person) -> None:
    """Policies are armed one by one there: the folder goes on being pushed, for the next edit of something else."""
    kim.write(in_shadow(DOCUMENT))
    kim.push()
    desk.in_console(mode="active")
    kim.write({**in_shadow(DOCUMENT), "settle": "20s"})
    assert kim.push() == 1
    assert kim.push(mode="active") == 1, "else nobody's edit is written over"
    assert kim.push(mode="keep") == 0
    assert desk.fields() == {**DOCUMENT, "settle": "20s"}


def test_keep_writes_over_no_other_edit(desk: Desk, kim: Person) -> None:
    kim.push()
    desk.in_console(mode="shadow", priority=9)
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push(mode="keep") == 1
    assert (desk.fields()["priority"], desk.fields()["settle"]) == (9, DOCUMENT["settle"])


def test_a_mode_that_is_no_word_is_somebodys_edit_and_stays(desk: Desk, kim: Person) -> None:
    kim.push()
    desk.in_console(mode="shadw")
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push(mode="keep") == 1
    assert desk.fields()["mode"] == "shadw"
    assert kim.push(mode="keep", force=True) == 0
    assert (desk.head().mode, desk.fields()["mode"]) == (PolicyMode.ACTIVE, "active"), "what was in force goes on"


def test_keep_arms_nothing_by_an_edit_that_was_refused(desk: Desk, kim: Person) -> None:
    kim.push(mode="shadow")
    desk.in_console(mode="active", settle="soon")
    assert desk.head().mode is PolicyMode.SHADOW
    assert kim.push(mode="keep", force=True) == 0
    assert desk.head().mode is PolicyMode.SHADOW


def test_keep_leaves_off_what_was_turned_off_on_a_broken_item_or_deleted(desk: Desk, kim: Person) -> None:
    kim.push()
    desk.in_console(mode="off", settle="soon")
    assert kim.push(mode="keep", force=True) == 0
    assert (desk.head().mode, desk.fields()["settle"]) == (PolicyMode.OFF, DOCUMENT["settle"])
    kim.push(mode="active")
    desk.delete()
    assert kim.push(mode="keep", force=True) == 0
    assert desk.head().mode is PolicyMode.OFF


def test_who_arms_it_between_the_look_and_the_write_loses_nothing(desk: Desk, kim: Person) -> None:
    kim.write(in_shadow(DOCUMENT))
    kim.push()
    kim.write({**in_shadow(DOCUMENT), "settle": "20s"})

    def meanwhile(_planned: Sequence[Planned]) -> str:
        desk.in_console(mode="active")
        return ""

    assert kim.push(mode="keep", gates=[meanwhile]) == 1
    assert (desk.fields()["mode"], desk.fields()["settle"]) == ("active", DOCUMENT["settle"])
    assert kim.push(mode="keep") == 0
    assert (desk.fields()["mode"], desk.fields()["settle"]) == ("active", "20s")


def test_a_rehearsal_is_of_the_modes_that_will_be(desk: Desk, armed: Person) -> None:
    seen: dict[str, str] = {}

    def gate(planned: Sequence[Planned]) -> str:
        seen.update({each.name: each.document["mode"] for each in planned})
        return ""

    armed.write({**in_shadow(DOCUMENT), "settle": "20s"})
    assert armed.push(mode="keep", gates=[gate]) == 0
    assert seen == {NAME: "active", ALSO: "active"}


def test_a_pull_and_a_push_of_it_disarm_nobody(desk: Desk, armed: Person, tmp_path: Path) -> None:
    ben = Person(desk, tmp_path / "ben")
    assert ben.pull() == 0
    assert ben.push() == 0
    assert modes(desk) == ["active", "active"]
    assert (desk.head().revision, desk.head(ALSO).revision) == (1, 1)


def test_who_arms_by_a_mode_hears_what_lint_says_of_an_active_one(desk: Desk, kim: Person, capsys: Shown) -> None:
    idle = {key: value for key, value in DOCUMENT.items() if key not in {"examples", "limits", "settle"}}
    kim.write({**idle, "mode": "shadow", "do": ["requeue_job"]})
    assert kim.push() == 0
    assert "L313" not in capsys.readouterr().out
    assert kim.push(mode="active") == 0
    assert f"{NAME}: L313 warning: do: requeue_job is carried out by nobody yet" in capsys.readouterr().out
    assert [one["code"] for one in kim.answer.policies[NAME]["warnings"]] == ["L313"]
    kim.write({**idle, "mode": "active", "do": ["requeue_job"], "priority": 3})
    assert kim.push() == 0
    assert capsys.readouterr().out.count("L313") == 1, "what stands in the file is told once, with its line"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_diff_says_how_many_would_stop(desk: Desk, armed: Person, capsys: Shown, *, as_json: bool) -> None:
    capsys.readouterr()
    assert comparing.compare(desk.table, [str(armed.folder)], "", as_json=as_json) == 1
    told = capsys.readouterr().out
    if as_json:
        assert json.loads(told)["would_stop"] == [ALSO, NAME]
    else:
        assert f"\n2 would stop acting by what the files say: {ALSO}, {NAME}.\n" in told
    armed.write(DOCUMENT)
    armed.write(OTHER)
    assert comparing.compare(desk.table, [str(armed.folder)], "", as_json=as_json) == 0
    assert "would stop acting" not in capsys.readouterr().out
