"""While a run that was let go has not been seen to go on, its incident says what it waits for."""

import json

import pytest

from console.incident.waiting import where_to_look, why_it_stands
from functions.acts.act import ActContext
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Orchestrator
from tests.tools.fleet_acts import Does
from tests.tools.incidents import finding, findings, plan
from tests.unit.console.incident.desk import Desk

SHORT = (Action.ISOLATE, Action.SUSPEND_JOB, Action.RESUME_JOB)
REPLACED = (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB)
CORDONED = "node node-i-1 is cordoned by this incident, and nothing brings another"


def silent(context: ActContext) -> RungReport:
    why = f"no step past {context.facts['chosen_step']} was reported since the restart"
    return context.failed(f"{why}, still so") if context.now >= context.deadline else context.waiting(30.0, why)


def at_confirm(*do: Action, deadline: float = 6000.0) -> Desk:
    desk = Desk({Rung.CONFIRM_RESUME: Does(silent)})
    desk.world.send(findings(finding(policy=plan(*do, deadline=deadline))))
    return desk.after(500)


def shown(desk: Desk, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert desk.run("show", desk.incident().id, "--json") == 0
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return told


def test_the_list_says_that_no_step_came_and_which_node_is_away(capsys: pytest.CaptureFixture[str]) -> None:
    desk = at_confirm(*SHORT)
    assert desk.run("list", "--json") == 0
    (line,) = json.loads(capsys.readouterr().out)["incidents"]
    assert line["rung"] == "confirm_resume"
    assert line["reason"].startswith(f"no step past {desk.incident().facts['chosen_step']} was reported yet")
    assert line["reason"].endswith(CORDONED)
    assert desk.run("list") == 0
    assert "is cordoned by this" in " ".join(capsys.readouterr().out.split())


def test_next_says_where_the_pods_are_seen_and_how_the_node_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    document = shown(at_confirm(*SHORT), capsys)
    steps = " ".join(map(str, document["next"] if isinstance(document["next"], list) else []))
    assert "kubectl -n train get pods -o wide -l training.kubeflow.org/job-name=llm" in steps
    assert CORDONED in steps
    assert "kubectl uncordon node-i-1" in steps
    assert "somebody is paged" in steps


def test_nothing_is_said_of_a_node_where_a_successor_came(capsys: pytest.CaptureFixture[str]) -> None:
    document = shown(at_confirm(*REPLACED), capsys)
    assert document["rung"] == "confirm_resume"
    assert str(document["reason"]).startswith("no step past")
    assert "cordon" not in json.dumps([document["reason"], document["next"]])


def test_nor_where_the_same_node_was_let_go() -> None:
    incident = at_confirm(*SHORT).incident()
    released = incident.model_copy(update={"done": (*incident.done, Rung.RELEASE_NODE)})
    assert CORDONED in why_it_stands(incident)
    assert "cordon" not in why_it_stands(released)


def test_what_parked_at_the_deadline_says_the_same_and_sets_no_checkpoint_aside(
    capsys: pytest.CaptureFixture[str],
) -> None:
    desk = at_confirm(*SHORT, deadline=300.0).after(900)
    document = shown(desk, capsys)
    assert document["status"] == "parked"
    assert str(document["reason"]).startswith("confirm_resume failed: no step past 900 was reported since the restart")
    assert "set_aside" not in [entry.stage for entry in desk.incident().timeline]
    first = str(document["next"][0]) if isinstance(document["next"], list) else ""
    assert "get pods" in first
    assert "Node node-i-1 is cordoned by this incident" in first


def test_where_no_pods_are_ours_none_are_looked_for() -> None:
    incident = at_confirm(*SHORT).incident()
    assert incident.job is not None
    elsewhere = incident.job.model_copy(update={"orchestrator": Orchestrator.SAGEMAKER})
    assert where_to_look(incident.model_copy(update={"job": elsewhere})) == ""
    assert where_to_look(incident.model_copy(update={"job": None})) == ""
