"""Whatever `relight policy` does, `--json` prints one document of it: what was written and judged, and what is left."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from console.policy import table_commands
from console.policy.answering import Answer, answered
from policies.contract.errors import RelightError
from tests.tools.editing import DOCUMENT, NAME, OTHER, Desk, Person

Shown = pytest.CaptureFixture[str]


def document(shown: Shown) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(shown.readouterr().out)
    return told


def test_a_push_tells_of_each_policy_what_was_written_and_judged(tmp_path: Path) -> None:
    kim = Person(Desk(), tmp_path / "kim", DOCUMENT, OTHER)
    assert kim.push(wait_seconds=60) == 0
    told = kim.answer.document(0)
    assert (told["action"], told["done"], told["left"]) == ("push", True, [])
    known = {one["name"]: (one["doing"], one["written"], one["verdict"]["status"]) for one in told["policies"]}
    assert known == {NAME: ("new", True, "accepted"), OTHER["name"]: ("new", True, "accepted")}
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push(dry_run=True) == 0
    one = kim.answer.policies[NAME]
    assert (one["doing"], one["written"]) == ("changed", False)
    assert one["changes"] == [{"path": "settle", "before": "10s", "after": "20s"}]


def test_a_push_that_writes_nothing_says_what_keeps_it(tmp_path: Path) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT)
    kim.push()
    desk.in_console(priority=9)
    kim.write({**DOCUMENT, "settle": "20s"})
    assert kim.push() == 1
    assert (kim.answer.policies[NAME]["doing"], kim.answer.policies[NAME]["written"]) == ("conflict", False)
    assert "somebody unknown (AWS's console, or a program)" in kim.answer.policies[NAME]["why"]
    assert "Nothing was written" in kim.answer.left[0]
    kim.write({**DOCUMENT, "settle": "soon"})
    assert kim.push() == 1
    assert (kim.answer.problems[0]["path"], kim.answer.policies) == ("settle", {})


def test_a_refusal_of_the_guard_comes_with_its_problems() -> None:
    answer = Answer("push")
    problem = {"path": "settle", "reason": "is not a duration", "hint": ""}
    answer.judged(NAME, {"status": "rejected", "revision": 2, "hash": "x", "problems": [problem]})
    assert answer.policies[NAME]["verdict"] == {
        "status": "rejected",
        "revision": 2,
        "mode": None,
        "problems": [problem],
    }


def test_a_pull_and_a_roll_back_tell_what_they_did(tmp_path: Path) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT)
    kim.push()
    desk.in_console(priority=9)
    assert kim.pull() == 0
    one = kim.answer.policies[NAME]
    assert (one["doing"], one["written"], Path(one["file"]).name) == ("changed", True, f"{NAME}.yaml")
    kim.write({**DOCUMENT, "settle": "20s"})
    desk.in_console(priority=8)
    assert kim.pull() == 1
    assert (kim.answer.policies[NAME]["written"], len(kim.answer.left)) == (False, 1)
    assert kim.roll_back(to=1) == 0
    one = kim.answer.policies[NAME]
    assert (one["restores"], one["written"], one["verdict"]["revision"]) == (1, True, 4)
    assert {"path": "priority", "before": 8} in one["changes"]


def test_all_that_people_are_told_meanwhile_goes_to_standard_error(capsys: Shown) -> None:
    answer = Answer("push")

    def work() -> int:
        print("a line for people")
        answer.of(NAME, written=True)
        return answer.failed("one is left.")

    assert answered(answer, work, as_json=True) == 1
    shown = capsys.readouterr()
    assert shown.err == "a line for people\nrelight policy: one is left.\n"
    told = json.loads(shown.out)
    policies = [{"name": NAME, "written": True}]
    left = ["one is left."]
    assert told == {"action": "push", "done": False, "policies": policies, "problems": [], "left": left}
    assert answered(Answer("push"), work, as_json=False) == 1
    assert capsys.readouterr().out == "a line for people\n"


@pytest.mark.parametrize("error", [RelightError("AWS said no.", hint=""), KeyboardInterrupt()], ids=["refused", "^C"])
def test_what_was_written_is_told_where_it_is_stopped_half_way(error: BaseException, capsys: Shown) -> None:
    answer = Answer("push")

    def work() -> int:
        answer.of(NAME, written=True)
        raise error

    with pytest.raises(type(error)):
        answered(answer, work, as_json=True)
    told = document(capsys)
    assert (told["done"], told["policies"][0]["written"], len(told["left"])) == (False, True, 1)


def test_where_nothing_was_looked_at_nothing_is_printed(capsys: Shown) -> None:
    answer = Answer("set-mode")
    assert answered(answer, lambda: 1 + answer.failed("there is no such policy."), as_json=True) == 2
    assert capsys.readouterr().out == ""
    assert answered(Answer("pull"), lambda: 0, as_json=True) == 0
    assert document(capsys)["policies"] == []


def test_every_command_that_writes_takes_json() -> None:
    actions = argparse.ArgumentParser().add_subparsers()
    table_commands.add_arguments(actions.add_parser, Path(), "")
    for action in ("push", "pull", "rollback", "set-mode", "stop", "start"):
        assert "--json" in actions.choices[action].format_help(), action
