"""Each sweep measures how long incidents run and how long one is overdue, as it found them."""

import pytest

from functions.coordinate.telling import tell_ages, tell_decision
from functions.twins.triage import MemoryTelemetry
from policies.contract.decisions import SweepMessage
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Decision, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import SelfShadow
from tests.tools.incidents import CLUSTER, RULES, ask, at, finding, findings

SWEEP = SweepMessage(cluster=CLUSTER, at=at(0))


def opened(node: str, seconds: float, **changes: object) -> Incident:
    """An incident that was opened then; it has 920 seconds, settling included."""
    decision = decide(Snapshot(CLUSTER), [findings(finding(node, seen=at(seconds)))], at(seconds), rules=RULES)
    return decision.incidents[0].after.model_copy(update=changes)


def measured(seconds: float, *incidents: Incident) -> list[tuple[str, float]]:
    telemetry = MemoryTelemetry()
    tell_ages(telemetry, Snapshot(CLUSTER, {each.id: each for each in incidents}), [SWEEP], at(seconds))
    return telemetry.seconds


@pytest.mark.parametrize(("seconds", "oldest", "overdue"), [(60, 60.0, 0.0), (920, 920.0, 0.0), (1220, 1220.0, 300.0)])
def test_the_oldest_counts(seconds: float, oldest: float, overdue: float) -> None:
    young = opened("i-2", 30)
    assert measured(seconds, opened("i-1", 0), young) == [("OldestIncident", oldest), ("LongestOverdue", overdue)]


def test_what_is_parked_or_closed_waits_for_nobody_here() -> None:
    parked, closed = opened("i-1", 0, status=IncidentStatus.PARKED), opened("i-2", 0, status=IncidentStatus.CLOSED)
    assert measured(2000, parked, closed) == measured(2000) == [("OldestIncident", 0.0), ("LongestOverdue", 0.0)]


def test_only_a_sweep_sees_all_incidents_and_measures() -> None:
    incident, telemetry = opened("i-1", 0), MemoryTelemetry()
    tell_ages(telemetry, Snapshot(CLUSTER, {incident.id: incident}), [ask(incident.id)], at(60))
    assert telemetry.seconds == []


def test_a_policy_that_puts_itself_in_shadow_is_counted() -> None:
    shadow = SelfShadow(policy="p", cluster=CLUSTER, incident="i", since=at(0), why="acted 6 times within 1h")
    telemetry = MemoryTelemetry()
    tell_decision(telemetry, Decision(shadows=(shadow,)), [], at(0))
    assert telemetry.counts["PoliciesPutInShadow"] == 1
