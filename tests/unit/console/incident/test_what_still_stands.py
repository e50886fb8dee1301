"""Who closed an incident by hand is told what of it still stands; what ended as it should says: nothing."""

import json
from typing import Any

import pytest

from console.incident.advising import next_steps
from functions.acts.act import Act, ActContext
from policies.contract.decisions import PolicyPlan, RungReport
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action
from policies.coordination.incident import Incident
from tests.tools.fleet_acts import Does
from tests.tools.incidents import finding, findings, plan
from tests.unit.console.incident.desk import Desk


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "220")


def does(context: ActContext) -> RungReport:
    return context.done()


def fails(context: ActContext) -> RungReport:
    return context.failed("no step past 6260 was reported")


def broken(*do: Action, at: Rung | None = None, wants: PolicyPlan | None = None) -> Desk:
    """Have a policy that does this, or one that *wants* it, answer a fault; its rung *at* fails."""
    acts: dict[Rung, Act] = {each: Does(does) for each in (Rung.RESET_GPU, Rung.VERIFY_NODE, Rung.RELEASE_NODE)}
    acts |= {at: Does(fails)} if at else {}
    desk = Desk(acts)
    desk.world.send(findings(finding(policy=wants or plan(*do, deadline=6000))))
    return desk.after(900)


def closed(desk: Desk) -> Desk:
    assert desk.run("close", desk.incident().id, "--reason", "a firmware test", "--by", "kim", "--yes") == 0
    return desk


def next_of(desk: Desk, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    desk.run("show", desk.incident().id, "--json")
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return "\n".join(document["next"])


def test_a_failed_rung_that_a_person_closes_is_no_recovery(capsys: pytest.CaptureFixture[str]) -> None:
    desk = closed(broken(Action.ISOLATE, Action.SUSPEND_JOB, Action.RESUME_JOB, at=Rung.CONFIRM_RESUME))
    capsys.readouterr()
    desk.run("list", "--closed")
    desk.run("show", desk.incident().id)
    told = capsys.readouterr().out
    assert "recovered" not in told
    assert "closed by person" in told
    assert desk.incident().outcome == "closed_by_person"


def test_the_cordon_and_the_commands_for_it_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    desk = closed(broken(Action.ISOLATE, Action.SUSPEND_JOB, Action.RESUME_JOB, at=Rung.CONFIRM_RESUME))
    told = next_of(desk, capsys)
    short = desk.incident().id[:12]
    for piece in (
        "kim closed it by hand: Relight does nothing more for it.",
        "there still is: the cordon and the taint of node node-i-1; the instance i-1, which was not replaced.",
        "terminate-instance-in-auto-scaling-group --instance-id i-1",
        "kubectl uncordon node-i-1",
        "Run train/llm was let go, and nobody saw it go on",
        f"relight incident verdict {short} faulty",
        "relight incident list --closed --node i-1",
    ):
        assert piece in told, piece
    assert "patch pytorchjob" not in told


def test_a_run_that_stays_stopped_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = next_of(closed(broken(at=Rung.REPLACE_NODE)), capsys)
    assert "run train/llm, which stays stopped" in told
    assert "kubectl -n train patch pytorchjob llm" in told
    assert "describe-auto-scaling-instances --instance-ids i-1" in told, "it may have been given up"
    assert "the instance i-1, which may have been given up" in told


def test_a_replaced_node_has_no_cordon(capsys: pytest.CaptureFixture[str]) -> None:
    told = next_of(closed(broken(at=Rung.CONFIRM_RESUME)), capsys)
    assert "kim closed it by hand" in told
    assert "kubectl uncordon" not in told
    assert "terminate-instance" not in told
    assert "there still is" not in told


def test_what_never_acted_left_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    desk = closed(broken(wants=plan(approval=True, deadline=6000)))
    told = next_of(desk, capsys)
    assert "kim closed it by hand" in told
    assert "there still is" not in told
    assert "kubectl" not in told


def test_who_said_how_the_hardware_was_is_not_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    desk = closed(broken(at=Rung.CONFIRM_RESUME))
    desk.run("verdict", desk.incident().id, "healthy", "--why", "a firmware test")
    assert "incident verdict" not in next_of(desk, capsys)


def test_who_said_no_is_asked_how_the_hardware_was(capsys: pytest.CaptureFixture[str]) -> None:
    desk = broken(wants=plan(approval=True, deadline=6000))
    assert desk.run("deny", desk.incident().id, "--reason", "a firmware test", "--yes") == 0
    told = next_of(desk, capsys)
    assert "A person said no" in told
    assert f"relight incident verdict {desk.incident().id[:12]} faulty" in told


@pytest.mark.parametrize(
    ("do", "nothing"),
    [
        ((Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB), True),
        ((Action.RESET_GPU,), True),
        ((Action.ISOLATE, Action.RESET_GPU), True),
        ((Action.ISOLATE,), False),
    ],
)
def test_what_closes_by_itself_leaves_no_more_than_its_policy_wants(
    do: tuple[Action, ...], nothing: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = broken(*do)
    assert not desk.incident().status.is_open, desk.incident().reason
    told = next_of(desk, capsys)
    assert (told == "Nothing.") is nothing
    assert ("the cordon and the taint of node node-i-1" in told) is not nothing


def test_what_a_person_closed_before_that_was_told_apart_says_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    desk = closed(broken(Action.ISOLATE, Action.SUSPEND_JOB, Action.RESUME_JOB, at=Rung.CONFIRM_RESUME))
    told = next_of(desk, capsys)
    assert as_of_before(desk.incident()) == told.splitlines()


def as_of_before(incident: Incident) -> list[str]:
    *before, last = incident.timeline
    last = last.model_copy(update={"detail": last.detail.replace("closed_by_person", "recovered")})
    return list(next_steps(incident.model_copy(update={"outcome": "recovered", "timeline": (*before, last)})))
