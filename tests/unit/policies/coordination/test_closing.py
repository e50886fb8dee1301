from dataclasses import replace

import pytest

from policies.contract.decisions import CloseMessage, Limit, parse_message
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action
from policies.coordination.budgets import Budget, reserve
from policies.coordination.closing import closed_by
from policies.coordination.decide import decide, keys_behind, keys_of
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.limits import to_measure
from policies.coordination.notes import Entry
from policies.coordination.snapshot import Snapshot
from policies.coordination.states import IncidentStatus
from tests.tools.incidents import CLUSTER, RULES, ask, at, finding, findings, plan

LIMITS = {"replacements": Limit(percent=5, within_seconds=600)}


def parked() -> Snapshot:
    """One incident that stopped its run and then failed."""
    opened = decide(Snapshot(CLUSTER), [findings(finding(policy=plan(limits=LIMITS)))], at(0), rules=RULES)
    (guard,) = opened.leases
    assert isinstance(guard.after, Lease)
    incident = opened.incidents[0].after
    acting = decide(
        Snapshot(CLUSTER, {incident.id: incident}, {"i-1#0": guard.after}), [ask(incident.id)], at(25), rules=RULES
    )
    incident = acting.incidents[0].after.model_copy(update={"status": IncidentStatus.PARKED})
    job, budget = (each.after for each in acting.shared)
    assert isinstance(job, Job)
    assert isinstance(budget, Budget)
    return Snapshot(CLUSTER, {incident.id: incident}, {"i-1#0": guard.after}, {job.id: job}, {budget.scope: budget})


def message(incident: str) -> CloseMessage:
    return CloseMessage(cluster=CLUSTER, incident=incident, by="kim", reason="the board was changed")


def test_a_person_closes_a_parked_incident_and_everything_is_let_go() -> None:
    snapshot = parked()
    (incident,) = snapshot.incidents.values()
    decision = decide(snapshot, [message(incident.id)], at(900), rules=RULES)
    closed = decision.incidents[0].after
    assert (closed.status, closed.outcome) == (IncidentStatus.CLOSED, "closed_by_person")
    assert closed.reason == "by kim: the board was changed"
    assert closed.timeline[-1].detail == "closed_by_person: by kim: the board was changed"
    assert closed_by(closed) == "kim"
    lease, job, budget = (change.after for change in (*decision.leases, *decision.shared))
    assert isinstance(lease, Lease)
    assert (lease.released, lease.outcome) == (True, "recovered"), "of the instance, which was not given up"
    assert isinstance(job, Job)
    assert (job.holds, job.resumer) == ((), None)
    assert isinstance(budget, Budget)
    assert budget.reservations[0].closed


def test_an_instance_that_was_given_up_stays_so_whoever_closes_its_incident() -> None:
    """What comes from it afterwards is of its death: the lease tells that, and the outcome who ended the incident."""
    snapshot = parked()
    (incident,) = snapshot.incidents.values()
    given_up = incident.model_copy(update={"done": (*incident.done, Rung.REPLACE_NODE)})
    snapshot = replace(snapshot, incidents={incident.id: given_up})
    decision = decide(snapshot, [message(incident.id)], at(900), rules=RULES)
    (lease,) = (change.after for change in decision.leases)
    assert isinstance(lease, Lease)
    assert (lease.outcome, decision.incidents[0].after.outcome) == ("replaced", "closed_by_person")


@pytest.mark.parametrize("outcome", ["closed_by_person", "recovered", "replaced"])
@pytest.mark.parametrize("by", ["kim", "arn:aws:sts::123456789012:assumed-role/on-call/kim"])
def test_who_closed_it_is_told_of_those_of_before_as_well(outcome: str, by: str) -> None:
    (incident,) = parked().incidents.values()
    line = Entry(number=9, version=3, stage="closed", at=at(9), detail=f"{outcome}: by {by}: it was: the cable")
    changed = {"status": IncidentStatus.CLOSED, "outcome": outcome, "timeline": (*incident.timeline, line)}
    assert closed_by(incident.model_copy(update=changed)) == by


@pytest.mark.parametrize("detail", ["recovered", "recovered: its agent was heard again", "replaced"])
def test_nobody_closed_what_ended_by_itself(detail: str) -> None:
    (incident,) = parked().incidents.values()
    line = Entry(number=9, version=3, stage="closed", at=at(9), detail=detail)
    changed = {"status": IncidentStatus.CLOSED, "outcome": detail.partition(":")[0], "timeline": (line,)}
    assert closed_by(incident.model_copy(update=changed)) == ""


def test_what_it_let_go_can_be_taken_again() -> None:
    snapshot = parked()
    (incident,) = snapshot.incidents.values()
    again = findings(finding(name="new", seen=at(903)))
    decision = decide(snapshot, [message(incident.id), again], at(902), rules=RULES)
    assert [each.after.status for each in decision.incidents] == [IncidentStatus.CLOSED, IncidentStatus.SETTLING]


def test_closing_again_changes_nothing() -> None:
    snapshot = parked()
    (incident,) = snapshot.incidents.values()
    closed = incident.model_copy(update={"status": IncidentStatus.CLOSED})
    decision = decide(Snapshot(CLUSTER, {closed.id: closed}), [message(closed.id)], at(900), rules=RULES)
    assert not decision.incidents
    assert not decision.refused


def test_an_incident_that_is_not_there_is_refused() -> None:
    decision = decide(Snapshot(CLUSTER), [message("absent")], at(0), rules=RULES)
    assert "there is no incident absent" in str(decision.refused[0])


def test_its_guards_are_read_and_it_travels() -> None:
    snapshot = parked()
    (incident,) = snapshot.incidents.values()
    sent = parse_message(message(incident.id).to_json())
    assert keys_of([sent]).incidents == {incident.id}
    behind = keys_behind(Snapshot(CLUSTER, dict(snapshot.incidents)), [sent], at(900), RULES)
    assert behind.leases == {"i-1#0"}
    assert behind.jobs == {"train/llm"}
    assert behind.budgets == {"replacements#cluster", "acts#policy#gpu-fell-off-the-bus"}


def settling(limit: Limit) -> Incident:
    policy = plan(Action.ISOLATE, limits={"isolations": limit})
    return decide(Snapshot(CLUSTER), [findings(finding(policy=policy))], at(0), rules=RULES).incidents[0].after


@pytest.mark.parametrize(
    ("limit", "scopes"),
    [
        (Limit(percent=5, within_seconds=60), ("isolations#cluster",)),
        (Limit(percent=5, within_seconds=60, per="policy"), ("isolations#policy#gpu-fell-off-the-bus",)),
        (Limit(percent=5, within_seconds=60, per="rack"), ("isolations#rack#rack-1",)),
        (Limit(percent=5, within_seconds=60, per="job"), ()),  # of an instance type whose GPUs nobody counted
        (Limit(at_most=5, within_seconds=60), ()),
    ],
)
def test_whose_size_must_be_known(limit: Limit, scopes: tuple[str, ...]) -> None:
    assert tuple(one.scope for one in to_measure(settling(limit))) == scopes


def test_a_percentage_counts_the_nodes_of_the_cluster() -> None:
    limit = Limit(percent=5, within_seconds=600)
    incident = settling(limit)
    lease = Lease(cluster=CLUSTER, generation="i-1#0", incident=incident.id, fence=1, expires_at=at(9999))
    snapshot = Snapshot(CLUSTER, {incident.id: incident}, {"i-1#0": lease}, sizes={"isolations#cluster": 40})
    taken = reserve_two()
    full = Snapshot(CLUSTER, snapshot.incidents, snapshot.leases, {}, {"isolations#cluster": taken}, snapshot.sizes)
    assert decide(snapshot, [ask(incident.id)], at(25), rules=RULES).replies[0].answer.verdict == "act"
    refused = decide(full, [ask(incident.id)], at(25), rules=RULES).replies[0].answer
    assert refused.verdict == "parked"
    assert "2 of 2" in refused.reason


def reserve_two() -> Budget:
    budget = Budget(cluster=CLUSTER, scope="isolations#cluster")
    for each in ("a", "b"):
        budget = reserve(budget, each, Limit(at_most=2, within_seconds=600), size=0, now=at(0)) or budget
    return budget
