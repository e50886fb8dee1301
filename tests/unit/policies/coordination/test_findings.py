from typing import Any

import pytest

from policies.contract.decisions import Finding, Limit
from policies.contract.events import JobRef
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, EvidenceRule, Kind, Orchestrator, PolicyMode
from policies.coordination.decide import decide
from policies.coordination.findings import DYING_SECONDS
from policies.coordination.incident import MOST_ALIKE, MOST_NOTES, Incident
from policies.coordination.leases import release
from policies.coordination.snapshot import Decision, Snapshot
from policies.coordination.states import IncidentStatus
from tests.tools.incidents import CLUSTER, JOB, RULES, START, at, finding, findings, plan

LIMIT = Limit(at_most=2, within_seconds=600)


def taken(*each: Finding, snapshot: Snapshot | None = None, now: float = 1) -> Decision:
    decision = decide(snapshot or Snapshot(CLUSTER), [findings(*each)], at(now), rules=RULES)
    assert not decision.refused
    return decision


def after(decision: Decision) -> Snapshot:
    leases = {each.after.generation: each.after for each in decision.leases}
    return Snapshot(CLUSTER, {each.after.id: each.after for each in decision.incidents}, leases)


def only(decision: Decision) -> Incident:
    (change,) = decision.incidents
    return change.after


def test_an_opened_incident_keeps_policy_plan_and_lease_and_is_started() -> None:
    decision = taken(finding())
    incident = only(decision)
    assert (incident.status, incident.version, incident.fence) == (IncidentStatus.SETTLING, 1, 1)
    assert incident.policy == plan()
    assert incident.current
    assert incident.current.rung is Rung.ISOLATE
    assert (incident.settle_until, incident.deadline) == (at(21), at(921))
    assert [(start.incident, start.attempt) for start in decision.starts] == [(incident.id, 1)]
    assert [entry.stage for entry in incident.timeline] == ["seen", "queued", "decided"]
    assert incident.timeline[2].alert == "notify"
    assert {entry.version for entry in incident.timeline} == {1}


def test_the_id_follows_from_the_finding_alone() -> None:
    assert only(taken(finding())).id == only(taken(finding(), now=7)).id


def test_settle_shrinks_with_time_and_the_deadline_does_not() -> None:
    rules = type(RULES)(RULES.orchestrators, time_scale=0.1)
    incident = only(decide(Snapshot(CLUSTER), [findings(finding())], START, rules=rules))
    assert (incident.settle_until, incident.deadline) == (at(2), at(902))


@pytest.mark.parametrize("mode", [PolicyMode.SHADOW, PolicyMode.OFF])
def test_a_policy_that_is_not_active_decides_and_touches_nothing(mode: PolicyMode) -> None:
    decision = taken(finding(policy=plan(mode=mode)))
    incident = only(decision)
    assert (incident.status, incident.outcome) == (IncidentStatus.CLOSED, "recorded")
    assert "decided: isolate, replace_node, resume_job" in incident.reason
    assert [(each.after.incident, each.after.released, each.after.fence) for each in decision.leases] == [("", True, 0)]
    assert not decision.starts
    assert incident.timeline[-1].stage == "decided"
    assert incident.timeline[-1].alert == "notify"


def test_what_nobody_carries_out_yet_is_recorded_with_an_alert() -> None:
    incident = only(taken(finding(policy=plan(Action.ISOLATE, Action.DRAIN))))
    assert incident.status is IncidentStatus.CLOSED
    assert incident.reason == "decided: isolate, drain; drain is carried out by nobody yet"
    assert incident.timeline[-1].alert == "notify"


@pytest.mark.parametrize(
    ("actions", "alert"),
    [
        ((Action.RECORD,), "none"),
        ((Action.ALERT,), "notify"),
        ((Action.RECORD, Action.PAGE_OPERATOR), "page"),
    ],
)
def test_who_hears_of_a_recorded_decision(actions: tuple[Action, ...], alert: str) -> None:
    assert only(taken(finding(policy=plan(*actions)))).timeline[-1].alert == alert


def test_a_late_finding_alone_never_acts() -> None:
    decision = taken(finding(late=True))
    assert only(decision).status is IncidentStatus.CLOSED
    assert not decision.starts


@pytest.mark.parametrize(
    ("evidence", "fresh", "stale"),
    [(EvidenceRule.TRANSIENT, 300, 301), (EvidenceRule.PROBE, 900, 901), (EvidenceRule.LATCHED, 3600, 3601)],
)
def test_a_finding_that_waited_too_long_in_the_queue_only_informs(
    evidence: EvidenceRule, fresh: float, stale: float
) -> None:
    policy = plan(evidence=evidence)
    assert only(taken(finding(policy=policy), now=fresh)).status is IncidentStatus.SETTLING
    assert only(taken(finding(policy=policy), now=stale)).status is IncidentStatus.CLOSED


def test_a_repeat_changes_nothing_and_starts_what_was_not_heard_of() -> None:
    first = taken(finding())
    again = taken(finding(), snapshot=after(first), now=40)
    assert not again.incidents
    assert not again.leases
    assert len(again.starts) == 1
    assert [incident.id for incident in again.retold] == [only(first).id]
    heard = only(first).model_copy(update={"started": 1})
    snapshot = Snapshot(CLUSTER, {heard.id: heard}, after(first).leases)
    assert not taken(finding(), snapshot=snapshot, now=40).starts


def test_two_findings_of_one_node_in_one_message_are_one_incident() -> None:
    decision = taken(finding(name="a"), finding(name="b", kind=Kind.GPU_LOST))
    assert [note.id for note in only(decision).findings] == ["a", "b"]
    assert len(decision.starts) == 1


def test_a_shadow_finding_joins_an_open_incident_as_a_note() -> None:
    snapshot = after(taken(finding()))
    joined = only(taken(finding(name="b", policy=plan(mode=PolicyMode.SHADOW)), snapshot=snapshot))
    assert len(joined.findings) == 2
    assert joined.version == 2


def test_a_storm_of_findings_costs_no_more_writes_than_it_has_notes() -> None:
    snapshot = after(taken(finding()))
    storm = [finding(name=f"f{number}") for number in range(100)]
    incident = only(taken(*storm, snapshot=snapshot))
    assert len(incident.findings) == MOST_ALIKE
    full = Snapshot(CLUSTER, {incident.id: incident}, snapshot.leases)
    assert not taken(finding(name="one-more"), snapshot=full).incidents


def test_a_storm_before_a_recovery_does_not_swallow_the_fault_after_it() -> None:
    snapshot = left_behind("recovered", 500)
    (holder,) = snapshot.incidents.values()
    full = holder.model_copy(update={"findings": holder.findings * MOST_NOTES})
    snapshot = Snapshot(CLUSTER, {full.id: full}, snapshot.leases)
    decision = taken(finding(name="b", seen=at(501)), snapshot=snapshot, now=502)
    assert only(decision).status is IncidentStatus.SETTLING
    assert len(decision.starts) == 1


def test_a_storm_of_findings_full_of_rubbish_still_fits_one_item() -> None:
    rubbish: dict[str, Any] = {f"{number:03}" + "k" * 500: "é" * 2000 for number in range(50)}
    storm = [finding(name=f"f{number}").model_copy(update={"attributes": rubbish}) for number in range(40)]
    assert len(only(taken(*storm)).model_dump_json().encode()) < 300 * 1024


def test_what_an_incident_is_judged_by_stays_in_its_notes() -> None:
    said = finding().model_copy(update={"attributes": {"xid": 95, "process": "python"}})
    assert only(taken(said)).findings[0].attributes == {"xid": 95, "process": "python"}


WEAK = plan(Action.ISOLATE, limits={"isolations": LIMIT}, deadline=60)


def test_a_policy_that_wants_more_leads_while_the_incident_settles() -> None:
    snapshot = after(taken(finding(policy=WEAK)))
    strong = plan(limits={"replacements": LIMIT}).model_copy(update={"name": "strong"})
    joined = only(taken(finding(name="b", policy=strong), snapshot=snapshot))
    assert Rung.REPLACE_NODE in [each.rung for each in joined.rungs]
    assert joined.policy.name == "strong"
    assert set(joined.policy.limits) == {"isolations", "replacements"}
    assert joined.deadline == at(921)
    weaker_again = only(
        taken(finding(name="c", policy=WEAK), snapshot=Snapshot(CLUSTER, {joined.id: joined}, snapshot.leases))
    )
    assert weaker_again.policy.name == "strong"


@pytest.mark.parametrize(
    ("change", "now"), [({"mode": PolicyMode.SHADOW}, 1), ({"evidence": EvidenceRule.TRANSIENT}, 301)]
)
def test_a_policy_that_may_not_act_leads_nobody(change: dict[str, Any], now: float) -> None:
    snapshot = after(taken(finding(policy=WEAK)))
    joined = only(taken(finding(name="b", policy=plan(**change)), snapshot=snapshot, now=now))
    assert joined.policy == WEAK


def test_what_is_wanted_of_an_incident_that_is_on_its_way_already_is_told_a_person() -> None:
    first = taken(finding(policy=WEAK))
    moved = only(first).model_copy(update={"status": IncidentStatus.ACTING})
    snapshot = Snapshot(CLUSTER, {moved.id: moved}, after(first).leases)
    line = only(taken(finding(name="b"), snapshot=snapshot)).timeline[-1]
    assert (line.stage, line.alert) == ("joined", "page")
    assert "replace_node" in line.detail
    assert only(taken(finding(name="b", policy=WEAK), snapshot=snapshot)).timeline[-1].alert == "none"


def test_a_job_heard_of_while_settling_shapes_the_plan() -> None:
    snapshot = after(taken(finding(job=None)))
    joined = only(taken(finding(name="b"), snapshot=snapshot))
    assert joined.job == JOB
    assert Rung.RESUME_JOB in [each.rung for each in joined.rungs]


def acting(rung: Rung) -> Snapshot:
    first = taken(finding())
    incident = only(first)
    position = [each.rung for each in incident.rungs].index(rung)
    moved = incident.model_copy(update={"status": IncidentStatus.ACTING, "position": position})
    return Snapshot(CLUSTER, {moved.id: moved}, after(first).leases)


@pytest.mark.parametrize("rung", [Rung.ISOLATE, Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB])
def test_a_node_that_dies_before_it_was_given_up_is_fenced_first(rung: Rung) -> None:
    joined = only(taken(finding(name="b", kind=Kind.NODE_SILENT), snapshot=acting(rung)))
    rungs = [each.rung for each in joined.rungs]
    assert rungs.index(Rung.FENCE_NODE) == rungs.index(Rung.SUSPEND_JOB) - 1
    assert joined.position <= rungs.index(Rung.FENCE_NODE)
    again = Snapshot(CLUSTER, {joined.id: joined}, acting(rung).leases)
    twice = only(taken(finding(name="c", kind=Kind.NODE_SILENT), snapshot=again))
    assert twice.rungs == joined.rungs


@pytest.mark.parametrize("rung", [Rung.REPLACE_NODE, Rung.VERIFY_NODE, Rung.CHOOSE_CHECKPOINT])
def test_the_silence_of_a_node_that_was_given_up_is_ours(rung: Rung) -> None:
    joined = only(taken(finding(name="b", kind=Kind.NODE_SILENT), snapshot=acting(rung)))
    assert Rung.FENCE_NODE not in [each.rung for each in joined.rungs]
    assert joined.timeline[-1].alert == "none"


def left_behind(outcome: str, when: float, *, with_incident: bool = True) -> Snapshot:
    first = taken(finding())
    incident = only(first).model_copy(update={"status": IncidentStatus.CLOSED})
    lease = release(after(first).leases["i-1#0"], outcome, at(when))
    return Snapshot(CLUSTER, {incident.id: incident} if with_incident else {}, {"i-1#0": lease})


def test_news_of_a_replaced_node_is_noted_as_late() -> None:
    decision = taken(finding(name="b", seen=at(700)), snapshot=left_behind("replaced", 500), now=700)
    assert only(decision).findings[-1].late
    assert not decision.starts
    assert not decision.leases


def test_news_of_a_replaced_node_whose_incident_is_gone_is_recorded() -> None:
    snapshot = left_behind("replaced", 500, with_incident=False)
    decision = taken(finding(name="b", seen=at(700)), snapshot=snapshot, now=700)
    assert only(decision).status is IncidentStatus.CLOSED
    assert not decision.starts


def test_a_node_that_was_given_up_and_speaks_long_after_lives_on() -> None:
    seen = 500 + DYING_SECONDS + 1
    decision = taken(finding(name="b", seen=at(seen)), snapshot=left_behind("replaced", 500), now=seen + 1)
    assert only(decision).status is IncidentStatus.SETTLING
    assert len(decision.starts) == 1


def test_a_fault_after_a_recovery_opens_another_incident_under_the_next_fence() -> None:
    snapshot = left_behind("recovered", 500)
    decision = taken(finding(name="b", seen=at(501)), snapshot=snapshot, now=502)
    assert only(decision).status is IncidentStatus.SETTLING
    assert only(decision).fence == 2


def test_a_fault_from_before_the_recovery_is_noted() -> None:
    decision = taken(finding(name="b", seen=at(499)), snapshot=left_behind("recovered", 500), now=502)
    assert only(decision).status is IncidentStatus.CLOSED
    assert not decision.starts


def test_a_lease_whose_incident_was_never_written_is_taken_over() -> None:
    leases = after(taken(finding())).leases
    decision = taken(finding(name="b"), snapshot=Snapshot(CLUSTER, {}, leases))
    assert only(decision).fence == 2


def test_an_orchestrator_without_executors_is_recorded() -> None:
    slurm = JobRef(id="7", orchestrator=Orchestrator.SLURM)
    assert "by nobody yet" in only(taken(finding(job=slurm))).reason


def test_a_bad_message_fails_alone() -> None:
    stranger = findings(finding(cluster="east", node="i-9"))
    mixed = findings(finding("i-2")).model_copy(update={"findings": (finding("i-2"), finding("i-3", cluster="sage"))})
    decision = decide(Snapshot(CLUSTER), [stranger, findings(finding()), mixed], at(1), rules=RULES)
    assert set(decision.refused) == {0, 2}
    assert [each.after.node.instance_id for each in decision.incidents] == ["i-1"]
    assert [start.index for start in decision.starts] == [1]
