"""A policy that asks first: it parks before its first act and goes on once, in time and on fresh evidence."""

import pytest

from policies.contract.decisions import FindingsMessage, Limit, PolicyPlan, parse_message
from policies.contract.restraints import ApproveMessage, Cancellation
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, EvidenceRule, PolicyMode
from policies.coordination.decide import decide, keys_behind, keys_of
from policies.coordination.incident import MOST_ALIKE, Incident
from policies.coordination.snapshot import Keys, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import Switches
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, POLICY, RULES, ask, at, finding, findings, plan, report

PLAN = plan(approval=True, settle=0)


def parked(policy: PolicyPlan = PLAN) -> DecisionTable:
    table = DecisionTable()
    table.take(0, findings(finding(policy=policy)))
    assert table.answer(1, ask(table.incident.id)).verdict == "parked"
    return table


def said(incident: Incident, *, approved: bool = True, by: str = "kim", reason: str = "seen") -> ApproveMessage:
    return ApproveMessage(cluster=CLUSTER, incident=incident.id, by=by, reason=reason, approved=approved)


def test_it_parks_with_a_page_before_it_touches_anything() -> None:
    incident = parked().incident
    assert (incident.status, incident.acted) == (IncidentStatus.PARKED, False)
    assert incident.approve_until == at(3601)
    assert incident.reason.endswith("wants a person's approval before it acts; it counts until 11:00:01 UTC")
    assert incident.timeline[-1].alert == "page"


def test_approved_it_goes_on_with_its_next_attempt_and_a_deadline_of_its_own() -> None:
    table = parked()
    decision = table.take(600, said(table.incident))
    incident = table.incident
    assert (incident.status, incident.attempt, incident.approved_by) == (IncidentStatus.SETTLING, 2, "kim")
    assert incident.deadline == at(1500)
    assert [(start.incident, start.attempt) for start in decision.starts] == [(incident.id, 2)]
    assert (incident.timeline[-1].stage, incident.timeline[-1].detail) == ("approved", "by kim: seen")
    answer = table.answer(601, ask(incident.id, attempt=2))
    assert (answer.verdict, answer.rung, answer.fence) == ("act", Rung.ISOLATE, incident.fence)
    assert table.incident.acted


def test_what_still_runs_of_the_attempt_before_is_fenced() -> None:
    table = parked()
    table.take(600, said(table.incident))
    assert table.answer(601, ask(table.incident.id, 1)).verdict == "fenced"


def test_said_twice_it_goes_on_once() -> None:
    table = parked()
    table.take(600, said(table.incident))
    again = table.take(610, said(table.incident, by="lee"))
    assert not again.incidents
    assert [start.attempt for start in again.starts] == [2]  # the same execution, in case the first was never started
    table.answer(611, ask(table.incident.id, attempt=2))
    assert not table.take(620, said(table.incident)).starts
    assert table.incident.attempt == 2


@pytest.mark.parametrize(
    ("policy", "seconds", "why"),
    [
        (PLAN, 3601, "it counted until 2026-03-01 11:00:01 UTC"),
        (PLAN.model_copy(update={"evidence": EvidenceRule.TRANSIENT}), 301, "the fault was last seen 301 s ago"),
        (PLAN.model_copy(update={"approve_within_seconds": 60.0}), 61, "it counted until"),
    ],
)
def test_too_late_it_stays_parked_and_says_why(policy: PolicyPlan, seconds: float, why: str) -> None:
    table = parked(policy)
    table.take(seconds, said(table.incident))
    assert table.incident.status is IncidentStatus.PARKED
    assert table.incident.timeline[-1].stage == "not_approved"
    assert why in table.incident.timeline[-1].detail


def test_the_same_no_again_is_told_once() -> None:
    table = parked()
    table.take(4000, said(table.incident))
    assert not table.take(4000, said(table.incident)).incidents


def test_fresh_evidence_makes_a_yes_count_again() -> None:
    table = parked(PLAN.model_copy(update={"evidence": EvidenceRule.TRANSIENT}))
    policy = PLAN.model_copy(update={"evidence": EvidenceRule.TRANSIENT})
    table.take(500, findings(finding(name="again", policy=policy, seen=at(499))))
    table.take(510, said(table.incident))
    assert table.incident.status is IncidentStatus.SETTLING


def test_denied_it_closes_and_lets_everything_go() -> None:
    table = parked()
    table.take(60, said(table.incident, approved=False, reason="a firmware test"))
    incident = table.incident
    assert (incident.status, incident.outcome, incident.reason) == (
        IncidentStatus.CLOSED,
        "denied",
        "by kim: a firmware test; nobody is asked again until 2026-03-01 14:01:00 UTC",
    )
    assert table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"].released


def test_what_was_seen_before_the_no_is_history_and_what_comes_after_it_is_refused_as_well() -> None:
    table = parked()
    table.take(60, said(table.incident, approved=False))
    table.take(61, findings(finding(name="echo", policy=PLAN, seen=at(59))))
    assert len(table.incidents) == 1
    table.take(70, findings(finding(name="new", policy=PLAN, seen=at(69))))
    assert [each.outcome for each in table.incidents] == ["denied", "recorded"]


def test_a_no_after_the_yes_and_a_yes_after_the_no_change_nothing() -> None:
    table = parked()
    table.take(60, said(table.incident))
    assert not table.take(61, said(table.incident, approved=False)).incidents
    other = parked()
    other.take(60, said(other.incident, approved=False))
    assert not other.take(61, said(other.incident)).incidents


def test_an_incident_that_is_parked_for_something_else_waits_for_no_approval() -> None:
    table = DecisionTable()
    table.take(0, findings(finding(policy=plan(Action.ISOLATE, settle=0, otherwise=()))))
    table.answer(1, ask(table.incident.id))
    table.take(2000, ask(table.incident.id, 1))
    assert table.incident.status is IncidentStatus.PARKED
    assert not table.take(2001, said(table.incident)).incidents


def test_its_budgets_are_asked_for_only_then() -> None:
    table = parked(PLAN.model_copy(update={"limits": {"isolations": Limit(at_most=1, within_seconds=600)}}))
    scope = frozenset({"isolations#cluster"})
    assert table.store.read(CLUSTER, Keys(budgets=scope)).budgets["isolations#cluster"].reservations == ()
    table.take(60, said(table.incident))
    table.answer(61, ask(table.incident.id, attempt=2))
    assert len(table.store.read(CLUSTER, Keys(budgets=scope)).budgets["isolations#cluster"].reservations) == 1


def test_a_policy_that_was_turned_off_meanwhile_touches_nothing() -> None:
    table = parked()
    table.take(60, said(table.incident))
    table.switches = Switches({POLICY: PolicyMode.OFF})
    assert table.answer(61, ask(table.incident.id, attempt=2)).verdict == "closed"
    assert not table.incident.acted


def test_another_policy_that_sees_the_node_after_the_yes_changes_no_approved_plan() -> None:
    mild = plan(Action.ISOLATE, approval=True, settle=0)
    table = parked(mild)
    table.take(60, said(table.incident))
    table.take(61, findings(finding(name="b", policy=plan(name="hard"))))
    assert table.incident.policy == mild
    assert table.incident.timeline[-1].alert == "page"
    assert table.incident.deadline == at(960)


def test_it_runs_to_its_end_after_the_yes() -> None:
    table = parked(plan(Action.ISOLATE, approval=True, settle=0))
    table.take(60, said(table.incident))
    table.answer(61, ask(table.incident.id, attempt=2))
    done = report(Rung.ISOLATE, when=at(70))
    assert table.answer(71, ask(table.incident.id, 1, attempt=2, report=done)).verdict == "closed"


def refusal(message: ApproveMessage) -> Exception:
    return decide(Snapshot(CLUSTER), [message], at(9), rules=RULES).refused[0]


def test_an_incident_that_is_not_there_is_refused_and_the_message_travels() -> None:
    sent = parse_message(said(parked().incident).to_json())
    assert sent == said(parked().incident)
    table = parked()
    behind = keys_behind(Snapshot(CLUSTER, {table.incident.id: table.incident}), [sent], at(9), RULES)
    assert keys_of([sent]).incidents == {table.incident.id}
    assert behind.leases == {"i-1#0"}
    assert "there is no incident" in str(refusal(sent))


def test_a_fault_that_fills_the_incident_while_it_waits_is_still_fresh_when_a_person_says_yes() -> None:
    table = parked(plan(approval=True, settle=0, evidence=EvidenceRule.TRANSIENT))
    policy = table.incident.policy
    for number in range(1, 56):
        table.take(number * 60, findings(finding(name=f"f{number}", policy=policy, seen=at(number * 60))))
    assert len(table.incident.findings) == MOST_ALIKE
    assert table.incident.findings[-1].until == at(3300)
    table.take(3320, findings(finding(name="f40", policy=policy, seen=at(2400))))
    assert table.incident.findings[-1].until == at(3300)
    table.take(3350, said(table.incident))
    assert (table.incident.status, table.incident.approved_by) == (IncidentStatus.SETTLING, "kim")


def test_a_fault_that_comes_again_in_a_full_incident_is_not_over() -> None:
    table = parked()
    policy = table.incident.policy
    told = [finding(name=f"f{number}", policy=policy, seen=at(number * 60)) for number in range(1, 56)]
    table.take(1900, findings(*told[:31]))
    ended = Cancellation(policy=policy.name, generation="i-1#0", at=at(1900), event_id="well", text="it is well")
    table.take(1901, FindingsMessage(cluster=CLUSTER, findings=(), cancellations=(ended,)))
    table.take(3300, findings(*told[31:]))
    table.take(3350, said(table.incident))
    assert table.incident.approved_by == "kim"


def test_a_fault_that_was_not_seen_again_in_a_full_incident_is_refused() -> None:
    table = parked(plan(approval=True, settle=0, evidence=EvidenceRule.TRANSIENT))
    told = [finding(name=f"f{number}", policy=table.incident.policy, seen=at(number)) for number in range(40)]
    table.take(60, findings(*told))
    table.take(3350, said(table.incident))
    assert table.incident.status is IncidentStatus.PARKED
