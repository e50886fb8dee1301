from policies.contract.decisions import SweepMessage
from policies.coordination.decide import decide, keys_behind, keys_of
from policies.coordination.incident import Incident, execution_input, execution_name
from policies.coordination.leases import Lease
from policies.coordination.rules import MOST_ATTEMPTS, MOST_LOOKUPS, Rules
from policies.coordination.snapshot import Decision, ExecutionState, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.sweep import to_look_up
from tests.tools.incidents import CLUSTER, RULES, START, at, finding, findings

SWEEP = SweepMessage(cluster=CLUSTER, at=START)


def opened(node: str = "i-1") -> tuple[Incident, Lease]:
    decision = decide(Snapshot(CLUSTER), [findings(finding(node))], START, rules=RULES)
    (guard,) = decision.leases
    assert isinstance(guard.after, Lease)
    return decision.incidents[0].after, guard.after


def swept(state: ExecutionState | None, seconds: float, **changes: object) -> tuple[Decision, Incident]:
    incident, lease = opened()
    incident = incident.model_copy(update=changes)
    states = {incident.execution: state} if state else {}
    snapshot = Snapshot(CLUSTER, {incident.id: incident}, {lease.generation: lease}, executions=states)
    return decide(snapshot, [SWEEP], at(seconds), rules=RULES), incident


def test_a_running_execution_is_left_alone() -> None:
    decision, _ = swept(ExecutionState.RUNNING, 300)
    assert decision == Decision()


def test_one_that_could_not_be_looked_up_is_left_for_the_next_minute() -> None:
    assert swept(None, 300)[0] == Decision()


def test_one_that_was_never_started_is_started() -> None:
    decision, incident = swept(ExecutionState.ABSENT, 300)
    assert [(start.incident, start.attempt) for start in decision.starts] == [(incident.id, 1)]
    assert not decision.incidents


def test_one_that_ended_is_followed_by_the_next_attempt_under_the_next_fence() -> None:
    decision, incident = swept(ExecutionState.ENDED, 300, started=1)
    assert [(start.incident, start.attempt) for start in decision.starts] == [(incident.id, 2)]
    assert decision.incidents[0].after.fence == 2
    assert decision.incidents[0].after.timeline[-1].stage == "restarted"


def test_after_the_last_attempt_a_person_is_asked() -> None:
    decision, _ = swept(ExecutionState.ENDED, 300, attempt=MOST_ATTEMPTS, started=MOST_ATTEMPTS)
    assert decision.incidents[0].after.status is IncidentStatus.PARKED
    assert not decision.starts


def test_an_overdue_incident_is_parked_whatever_its_execution_does() -> None:
    decision, _ = swept(ExecutionState.RUNNING, 920)
    parked = decision.incidents[0].after
    assert parked.status is IncidentStatus.PARKED
    assert parked.timeline[-1].alert == "page"
    assert parked.fence == 2


def test_parked_and_closed_ones_are_not_looked_at() -> None:
    assert swept(ExecutionState.ENDED, 9999, status=IncidentStatus.PARKED)[0] == Decision()
    assert swept(ExecutionState.ENDED, 9999, status=IncidentStatus.CLOSED)[0] == Decision()


def looked_up(seconds: float, rules: Rules = RULES, **changes: object) -> int:
    return len(to_look_up([opened()[0].model_copy(update=changes)], at(seconds), rules))


def test_who_is_looked_up() -> None:
    assert (looked_up(59), looked_up(60)) == (0, 1)
    assert (looked_up(179, started=1), looked_up(180, started=1)) == (0, 1)
    assert looked_up(6, Rules(RULES.orchestrators, time_scale=0.1)) == 1
    assert looked_up(9999, status=IncidentStatus.PARKED) == 0


def test_the_longest_silent_ones_are_looked_up_first_and_not_all_at_once() -> None:
    incidents = [opened(f"i-{number}")[0].model_copy(update={"updated_at": at(-number)}) for number in range(80)]
    found = to_look_up(incidents, at(300), RULES)
    assert [each.node.instance_id for each in found] == [f"i-{number}" for number in range(79, 79 - MOST_LOOKUPS, -1)]


def test_a_sweep_reads_the_guards_only_of_those_that_may_move() -> None:
    moved, quiet = opened("i-1")[0], opened("i-2")[0].model_copy(update={"updated_at": at(290), "started": 1})
    keys = keys_of([SWEEP], (moved.id, quiet.id))
    assert keys.incidents == {moved.id, quiet.id}
    behind = keys_behind(Snapshot(CLUSTER, {moved.id: moved, quiet.id: quiet}), [SWEEP], at(300), RULES)
    assert behind.leases == {"i-1#0"}
    assert behind.jobs == {"train/llm"}


def test_executions_have_names_and_inputs_that_never_vary() -> None:
    incident, _ = opened()
    assert len(execution_name(incident.id, 10**6)) <= 80
    assert execution_input("west", "abc", 2) == '{"attempt": 2, "cluster": "west", "incident": "abc"}'
