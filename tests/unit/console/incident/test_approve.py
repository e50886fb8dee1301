"""`relight incident approve` and `deny`: a person answers a policy that asks first."""

import json

import pytest

from console.incident.parts import IncidentError
from policies.coordination.states import IncidentStatus
from tests.unit.console.incident.desk import Desk


def asked() -> Desk:
    desk = Desk()
    desk.break_node(asks=True)
    return desk.after(60)


def test_approved_it_goes_on_and_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    assert desk.run("approve", desk.incident().id[:8], "--reason", "seen", "--by", "kim", "--yes") == 0
    told = capsys.readouterr()
    assert "It would: isolate → collect_evidence" in told.err
    assert "goes on with attempt 2: approved by kim." in told.out
    desk.after(4000)
    assert (desk.incident().status, desk.incident().outcome) == (IncidentStatus.CLOSED, "replaced")


def test_denied_it_closes_and_nothing_was_touched(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    assert desk.run("deny", desk.incident().id, "--reason", "a test", "--by", "kim", "--yes") == 0
    assert "is closed: denied, by kim: a test" in capsys.readouterr().out
    assert not desk.incident().acted


def test_too_late_the_answer_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked().after(5000)
    assert desk.run("approve", desk.incident().id, "--by", "kim", "--yes") == 1
    assert "stays parked: by kim; it does not go on: it counted until" in capsys.readouterr().err
    assert desk.run("approve", desk.incident().id, "--by", "kim", "--yes") == 1


def test_again_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    assert [desk.run("approve", desk.incident().id, "--yes") for _ in range(2)] == [0, 0]
    assert len(desk.closings.sent) == 1
    assert desk.run("deny", desk.incident().id, "--reason", "after all", "--yes") == 1
    assert "waits for no approval" in capsys.readouterr().err


def test_what_waits_for_no_approval_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.break_node()
    desk.after(5)
    assert desk.run("approve", desk.incident().id, "--yes") == 1
    assert "waits for no approval: it is settling." in capsys.readouterr().err
    assert not desk.closings.sent


def test_without_a_person_and_without_yes_nothing_is_sent() -> None:
    desk = asked()
    assert desk.run("approve", desk.incident().id) == 2
    assert not desk.closings.sent


def test_a_deaf_coordinate_is_told_of() -> None:
    desk = asked()
    desk.closings.deaf = True
    with pytest.raises(IncidentError, match="has not taken the answer"):
        desk.run("approve", desk.incident().id, "--yes", "--wait", "5")


def test_show_names_the_two_commands_and_the_answer_is_json_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    desk.run("show", desk.incident().id)
    shown = capsys.readouterr().out
    assert f"relight incident approve {desk.incident().id[:12]}" in shown
    assert f"relight incident deny {desk.incident().id[:12]}" in shown
    assert desk.run("approve", desk.incident().id, "--by", "kim", "--yes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["approved_by"] == "kim"
