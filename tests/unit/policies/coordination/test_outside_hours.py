"""A policy with a schedule: outside its hours it decides and tells, as in shadow; what has begun goes on."""

from policies.contract.restraints import Hours
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.states import IncidentStatus
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import ask, at, finding, findings, plan, report

# All begins on a Sunday at 10:00 UTC.
UNTIL_NOON = Hours(only=("Sun 08:00-12:00",))
NOON = 2 * 3600.0


def test_outside_its_hours_a_decision_is_recorded_and_told() -> None:
    table = DecisionTable()
    table.take(NOON, findings(finding(policy=plan(schedule=UNTIL_NOON), seen=at(NOON))))
    incident = table.incident
    assert (incident.status, incident.outcome) == (IncidentStatus.CLOSED, "recorded")
    assert incident.reason == "decided: isolate, replace_node, resume_job; it is outside its schedule"
    assert incident.timeline[-1].alert == "notify"


def test_nobody_is_woken_outside_the_hours_by_a_policy_that_only_pages() -> None:
    table = DecisionTable()
    policy = plan(Action.PAGE_OPERATOR, schedule=UNTIL_NOON)
    table.take(NOON, findings(finding(policy=policy, seen=at(NOON))))
    assert table.incident.timeline[-1].alert == "notify"


def test_inside_its_hours_it_acts() -> None:
    table = DecisionTable()
    table.take(NOON - 60, findings(finding(policy=plan(schedule=UNTIL_NOON), seen=at(NOON - 60))))
    assert table.answer(NOON - 30, ask(table.incident.id)).verdict == "act"


def test_what_still_settles_when_the_hours_end_touches_nothing() -> None:
    table = DecisionTable()
    table.take(NOON - 10, findings(finding(policy=plan(schedule=UNTIL_NOON), seen=at(NOON - 10))))
    assert table.answer(NOON + 15, ask(table.incident.id)).verdict == "closed"
    assert "is outside its schedule; nothing was touched" in table.incident.reason


def test_what_has_begun_goes_on_when_the_hours_end() -> None:
    table = DecisionTable()
    table.take(NOON - 60, findings(finding(policy=plan(schedule=UNTIL_NOON), seen=at(NOON - 60))))
    table.answer(NOON - 30, ask(table.incident.id))
    done = report(Rung.ISOLATE, when=at(NOON + 1))
    assert table.answer(NOON + 1, ask(table.incident.id, 1, report=done)).verdict == "act"


def test_outside_its_hours_it_leads_no_other_policys_incident() -> None:
    table = DecisionTable()
    mild = plan(Action.ISOLATE, name="mild")
    table.take(NOON, findings(finding(policy=mild, seen=at(NOON))))
    table.take(NOON, findings(finding(name="b", policy=plan(schedule=UNTIL_NOON), seen=at(NOON))))
    assert table.incident.policy == mild


def test_the_mode_is_told_first() -> None:
    table = DecisionTable()
    shadow = plan(schedule=UNTIL_NOON, mode=PolicyMode.SHADOW)
    table.take(NOON, findings(finding(policy=shadow, seen=at(NOON))))
    assert "the policy is shadow" in table.incident.reason
