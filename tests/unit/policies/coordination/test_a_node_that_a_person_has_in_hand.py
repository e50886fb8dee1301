"""While a person works on a node nothing is done to it: recorded before anything began, stopped after it has."""

from datetime import datetime

import pytest

from policies.contract.decisions import SweepMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Kind, PolicyMode
from policies.coordination.states import IncidentStatus
from policies.facts.maintenance import BROKEN, Maintenance, read_maintenance
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, ask, at, finding, findings, plan, report

ANN = Maintenance(until=at(7200), since=at(-60), by="ann", why="swapping a NIC")
TOLD = "i-1 is in maintenance until 2026-03-01 12:00 UTC, by ann: swapping a NIC"


def table(maintenance: Maintenance | None = ANN) -> DecisionTable:
    made = DecisionTable()
    if maintenance:
        made.maintenance["i-1"] = maintenance
    return made


def sweep(moment: datetime) -> SweepMessage:
    return SweepMessage(cluster=CLUSTER, at=moment)


def test_what_is_found_on_it_is_recorded_with_an_alert_that_says_who_and_why() -> None:
    world = table()
    world.take(0, findings(finding()))
    assert world.incident.outcome == "recorded"
    assert not world.incident.acted
    (line,) = [entry for entry in world.incident.timeline if entry.stage == "decided"]
    assert line.detail == f"decided: isolate, replace_node, resume_job; {TOLD}"
    assert line.alert == "notify"


def test_other_nodes_are_acted_on_and_so_is_this_one_when_the_time_is_over() -> None:
    world = table()
    world.take(0, findings(finding("i-2"), finding("i-3")))
    assert all(each.status is IncidentStatus.SETTLING for each in world.incidents)
    later = table()
    later.take(7201, findings(finding(seen=at(7200))))
    assert later.incident.status is IncidentStatus.SETTLING


def test_a_policy_that_only_tells_tells_as_ever() -> None:
    world = table()
    page = plan(Action.PAGE_OPERATOR, otherwise=())
    world.take(0, findings(finding(policy=page)))
    assert [entry.alert for entry in world.incident.timeline if entry.stage == "decided"] == ["page"]
    assert "maintenance" not in world.incident.timeline[-1].detail


def test_a_rehearsal_says_that_it_is_one() -> None:
    world = table()
    world.take(0, findings(finding(policy=plan(mode=PolicyMode.SHADOW))))
    assert "the policy is shadow" in world.incident.timeline[-1].detail


def test_an_incident_that_settles_is_called_off_and_nobody_is_woken() -> None:
    world = table(None)
    other = plan(name="another", settle=20)
    world.take(0, findings(finding(), finding(name="second", policy=other)))
    world.maintenance["i-1"] = ANN
    answer = world.answer(30, ask(world.incident.id))
    assert answer.verdict == "closed"
    assert world.incident.reason.startswith(f"{TOLD}; nothing was touched")
    assert {entry.alert for entry in world.incident.timeline if entry.stage == "closed"} == {"notify"}


def test_the_sweep_calls_it_off_as_well() -> None:
    world = table(None)
    world.take(0, findings(finding()))
    world.maintenance["i-1"] = ANN
    world.take(5, sweep(at(5)))
    assert world.incident.outcome == "recorded"


def test_an_incident_that_acts_stops_before_its_next_rung_and_pages() -> None:
    world = table(None)
    world.take(0, findings(finding()))
    first = world.answer(30, ask(world.incident.id))
    assert first.rung is Rung.ISOLATE
    world.maintenance["i-1"] = ANN
    second = world.answer(40, ask(world.incident.id, 1, report=report(Rung.ISOLATE)))
    assert second.verdict == "parked"
    assert world.incident.reason == f"{TOLD}: stopped at collect_evidence"
    assert world.incident.timeline[-1].alert == "page"


def test_what_brings_a_stopped_run_back_goes_on() -> None:
    world = table(None)
    world.take(0, findings(finding()))
    answer = world.answer(30, ask(world.incident.id))
    for step, rung in enumerate((Rung.ISOLATE, Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB, Rung.REPLACE_NODE), start=1):
        assert answer.rung is rung
        if rung is Rung.REPLACE_NODE:
            world.maintenance["i-1"] = ANN
        answer = world.answer(30 + step, ask(world.incident.id, step, report=report(rung)))
    assert (answer.verdict, answer.rung) == ("act", Rung.VERIFY_NODE)


def test_a_run_is_stopped_and_resumed_although_one_of_its_nodes_is_in_hand() -> None:
    world = table()
    died = plan(Action.SUSPEND_JOB, Action.RESUME_JOB)
    world.take(0, findings(finding(policy=died, kind=Kind.PROCESS_EXITED, job=JOB)))
    assert world.incident.generation.startswith("run#")
    assert world.incident.status is IncidentStatus.SETTLING


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"until": "soon"}'])
def test_a_document_that_cannot_be_read_keeps_hands_off_until_a_person_ends_it(text: str) -> None:
    assert read_maintenance(text) is BROKEN
    world = table(BROKEN)
    world.take(0, findings(finding()))
    assert world.incident.outcome == "recorded"
    assert "i-1 is in maintenance: its document cannot be read" in world.incident.timeline[-1].detail
