"""`relight incident approve` and `deny`: a person answers a policy that asks first."""

import json

import pytest

from console.incident.approving import Answering, answer
from console.incident.parts import IncidentError
from policies.coordination.denials import standing
from policies.coordination.snapshot import Change
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
    answer, *by_hand = [line for line in shown.partition("\nnext\n")[2].splitlines() if line.startswith("- ")]
    assert "Answer it, one of two" in answer
    assert by_hand
    assert all(line.startswith("- Or by hand, instead of an answer: ") for line in by_hand), "no step beside an answer"
    assert "relight incident close" in by_hand[-1]
    assert f"relight incident deny {desk.incident().id[:12]}" in shown
    assert desk.run("approve", desk.incident().id, "--by", "kim", "--yes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["approved_by"] == "kim"


def test_a_no_says_until_when_nobody_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    assert desk.run("deny", desk.incident().id, "--why", "a test", "--by", "kim", "--yes", "--for", "12h") == 0
    told = capsys.readouterr()
    assert "An answer is about: gpu-fell-off-the-bus gpu.xid" in told.err
    assert "by kim: a test; nobody is asked again until 2026-03-01 22:01:0" in told.out
    desk.run("show", desk.incident().id, "--json")
    shown = json.loads(capsys.readouterr().out)
    assert shown["denied_until"].startswith("2026-03-01T22:01:0")
    assert [each["by"] for each in shown["denials"]] == ["kim"]


def test_what_comes_meanwhile_is_shown_with_who_said_no_and_how_to_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    first = desk.incident()
    desk.run("deny", first.id, "--reason", "a test", "--by", "kim", "--yes")
    desk.break_again()
    recorded = next(each for each in desk.world.store.all_incidents() if each.id != first.id)
    capsys.readouterr()
    desk.run("list", "--closed")
    assert "denied by kim at" in " ".join(capsys.readouterr().out.split())
    desk.run("show", recorded.id)
    assert f"`relight incident deny {first.id[:12]} --for 0 --reason WHY`" in capsys.readouterr().out
    assert desk.run("deny", recorded.id, "--reason", "over", "--by", "lee", "--yes", "--for", "0") == 0
    assert "by lee: over; whoever asks next is heard again" in capsys.readouterr().out
    assert desk.incident().denials[-1].by == "lee"
    desk.break_again()
    assert [each.status.is_open for each in desk.world.store.all_incidents()] == [False, False, True]


def test_a_no_that_was_said_is_not_said_again_unless_with_another_time(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    words = ("deny", desk.incident().id, "--reason", "a test", "--by", "kim", "--yes")
    assert [desk.run(*words), desk.run(*words), desk.run(*words, "--for", "1h")] == [0, 0, 0]
    assert len(desk.closings.sent) == 2
    capsys.readouterr()
    desk.run(*words, "--json", "--for", "7d")
    assert json.loads(capsys.readouterr().out)["denied_until"].startswith("2026-03-08T10:01:0")


@pytest.mark.parametrize("ahead", ["59s", "8d", "12", "nan", "-1h", "soon"])
def test_a_no_for_too_short_or_too_long_is_asked_wrongly(ahead: str) -> None:
    desk = asked()
    with pytest.raises(SystemExit) as ended:
        desk.run("deny", desk.incident().id, "--reason", "a test", "--yes", "--for", ahead)
    assert ended.value.code == 2
    assert not desk.closings.sent


def test_a_coordinate_of_before_that_only_closes_is_waited_for_no_longer() -> None:
    desk = asked()
    desk.closings.plain = True
    assert desk.run("deny", desk.incident().id, "--reason", "a test", "--yes") == 0


def test_a_no_that_holds_no_more_is_said_anew() -> None:
    desk = asked()
    words = ("deny", desk.incident().id, "--reason", "a test", "--by", "kim", "--yes")
    desk.run(*words, "--for", "0")
    assert not desk.incident().denials[-1].until > desk.world.now
    assert desk.run(*words) == 0
    assert desk.incident().denials[-1].until > desk.world.now
    desk.after(5 * 3600)
    assert desk.run(*words) == 0
    assert len(desk.closings.sent) == 3


def test_of_two_persons_who_say_no_at_once_both_are_heard() -> None:
    desk = asked()
    waiting = desk.incident()
    desk.run("deny", waiting.id, "--reason", "a test", "--by", "kim", "--yes", "--for", "12h")
    parts = desk.parts()
    found = answer(parts, waiting, Answering(approved=False, by="lee", reason="mine"))  # who saw it wait
    assert [each.by for each in found.denials] == ["kim", "lee"]
    assert standing(found.denials).until == found.denials[0].until  # who says no time shortens none


def test_a_yes_to_what_was_denied_tells_how_it_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    desk = asked()
    desk.run("deny", desk.incident().id, "--reason", "a test", "--yes")
    assert desk.run("approve", desk.incident().id, "--yes") == 1
    assert "it is closed. A person said no: `relight incident deny" in capsys.readouterr().err


def test_what_was_denied_before_a_no_had_a_time_may_be_denied_for_one() -> None:
    desk = asked()
    desk.closings.plain = True
    words = ("deny", desk.incident().id, "--reason", "a test", "--yes")
    desk.run(*words)
    closed = desk.incident()
    desk.world.store.write(Change(closed, closed.model_copy(update={"denials": (), "version": closed.version + 1})))
    desk.closings.plain = False
    assert desk.run(*words, "--for", "2h") == 0
    assert desk.incident().denials[-1].until > desk.world.now
