"""A person says what an incident was."""

import json

import pytest

from console.incident.parts import IncidentError
from policies.contract.restraints import VerdictMessage
from policies.coordination.snapshot import Keys
from policies.precision.record import Grade
from tests.tools.incidents import CLUSTER, POLICY
from tests.unit.console.incident.desk import Desk


@pytest.fixture
def desk() -> Desk:
    made = Desk()
    made.break_node()
    return made.after(900)


def test_a_verdict_is_kept_with_the_incident_and_counts(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = desk.incident().id[:8]
    assert desk.run("verdict", wanted, "healthy", "--why", "passed all tests", "--by", "ann") == 0
    assert capsys.readouterr().out == f"{desk.incident().id[:12]} healthy, says ann: passed all tests\n"
    (act,) = desk.world.store.read(CLUSTER, Keys(records=frozenset({POLICY}))).records[POLICY].acts  # type: ignore[union-attr]
    assert [(ground.grade, ground.faulty, ground.by) for ground in act.grounds] == [(Grade.PERSON, False, "ann")]
    assert desk.run("show", wanted) == 0
    assert "healthy, says ann: passed all tests" in capsys.readouterr().out


def test_it_may_be_changed_and_taken_back(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = desk.incident().id[:8]
    for word in ("healthy", "faulty", "unknown"):
        desk.after((desk.world.now - desk.incident().opened_at).total_seconds() + 60)
        assert desk.run("verdict", wanted, word, "--by", "ann") == 0
    (act,) = desk.world.store.read(CLUSTER, Keys(records=frozenset({POLICY}))).records[POLICY].acts  # type: ignore[union-attr]
    assert act.grounds == ()
    assert capsys.readouterr().out.splitlines()[-1].endswith("unknown, says ann")
    assert [entry.stage for entry in desk.incident().timeline][-3:] == ["judged"] * 3


def test_a_miss_names_its_policy(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = desk.incident().id[:8]
    assert desk.run("verdict", wanted, "missed", "--policy", "lemon-node", "--by", "ann", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert [(each["verdict"], each["policy"], each["by"]) for each in said["judgements"]] == [
        ("missed", "lemon-node", "ann")
    ]
    assert said["counts"] is True


@pytest.mark.parametrize("words", [("missed",), ("faulty", "--policy", "lemon-node")])
def test_what_makes_no_sense_is_not_sent(desk: Desk, words: tuple[str, ...]) -> None:
    assert desk.run("verdict", desk.incident().id[:8], *words) == 2
    assert desk.closings.sent == []


def test_a_verdict_that_nobody_takes_is_told(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.closings.deaf = True
    with pytest.raises(IncidentError, match="has not taken the verdict"):
        desk.run("verdict", desk.incident().id[:8], "faulty", "--wait", "1")
    (message,) = desk.closings.sent
    assert isinstance(message, VerdictMessage)
    assert capsys.readouterr().out == ""


def test_of_one_that_touched_nothing_it_is_said_that_it_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.break_node(asks=True)
    desk.after(60)
    assert desk.run("verdict", desk.incident().id[:8], "healthy", "--by", "ann") == 0
    assert "It touched no hardware, so that it counts for no precision." in capsys.readouterr().out
