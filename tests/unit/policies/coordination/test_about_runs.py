"""Findings about a run alone: one incident a run, whichever nodes tell of it, in whatever order and however often."""

from itertools import permutations

import pytest

from policies.contract.decisions import Finding, Limit
from policies.contract.events import JobRef
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Kind, Orchestrator
from policies.coordination.incident import Incident
from policies.coordination.snapshot import ConflictError
from policies.coordination.states import IncidentStatus
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import JOB, REPLACE, ask, at, finding, findings, plan, report

RUN_ONLY = (Action.RESUME_JOB,)
RUN_RUNGS = (
    Rung.COLLECT_EVIDENCE,
    Rung.SUSPEND_JOB,
    Rung.CHOOSE_CHECKPOINT,
    Rung.RESUME_JOB,
    Rung.CONFIRM_RESUME,
)


def stalled(node: str = "i-1", seen: float = 0, *, job: JobRef = JOB, name: str = "") -> Finding:
    policy = plan(*RUN_ONLY, limits={"restarts": Limit(at_most=2, within_seconds=3600, per="job")})
    return finding(
        node,
        name=name or f"stalled-{node}-{seen}",
        policy=policy,
        job=job,
        seen=at(seen),
        kind=Kind.TRAINING_STALLED,
    )


def broken(node: str = "i-1", seen: float = 0) -> Finding:
    return finding(node, name=f"broken-{node}", policy=plan(*REPLACE), seen=at(seen))


def carry_out(table: DecisionTable, incident: str, seconds: float, *rungs: Rung, first: int = 0) -> float:
    """Let handle-incident ask and report *rungs*; returns when the last was reported."""
    table.answer(seconds, ask(incident, first))
    for number, rung in enumerate(rungs, first + 1):
        seconds += 1
        table.answer(seconds, ask(incident, number, report=report(rung, when=at(seconds))))
    return seconds


def closed_by_resume(table: DecisionTable) -> Incident:
    carry_out(table, table.incident.id, 25, *RUN_RUNGS)
    assert (table.incident.status, table.incident.outcome) == (IncidentStatus.CLOSED, "recovered")
    return table.incident


@pytest.mark.parametrize("order", list(permutations(("i-1", "i-2", "i-3"))))
def test_all_nodes_of_one_run_make_one_incident_in_any_order(order: tuple[str, ...]) -> None:
    table = DecisionTable()
    for seconds, node in enumerate(order):
        table.take(seconds, findings(stalled(node)))
    assert [each.rung for each in table.incident.rungs] == list(RUN_RUNGS)
    assert len(table.incident.findings) == 3
    assert table.incident.node.instance_id == order[0]


def test_all_nodes_in_one_message_make_one_incident() -> None:
    table = DecisionTable()
    decision = table.take(0, findings(*(stalled(f"i-{number}") for number in range(20))))
    assert len(table.incident.findings) == 20
    assert len(decision.starts) == 1


def test_the_same_findings_again_change_nothing() -> None:
    table = DecisionTable()
    message = findings(stalled("i-1"), stalled("i-2"))
    table.take(0, message)
    before = table.incident
    decision = table.take(1, message)
    assert table.incident == before
    assert decision.incidents == ()
    assert len(decision.starts) == 1  # the start may have been lost; the same name is the same execution


def test_of_two_that_open_at_once_one_reads_again_and_joins() -> None:
    table = DecisionTable()
    one, other = findings(stalled("i-1")), findings(stalled("i-2"))
    first, second = table.decide(0, one), table.decide(0, other)
    table.commit(first)
    with pytest.raises(ConflictError):
        table.commit(second)
    table.take(0, other)
    assert len(table.incident.findings) == 2


def test_two_runs_are_two_incidents() -> None:
    table = DecisionTable()
    table.take(0, findings(stalled("i-1"), stalled("i-2", job=JobRef(id="train/other"))))
    assert len(table.incidents) == 2


def test_what_a_node_says_late_of_the_run_that_was_resumed_is_history() -> None:
    table = DecisionTable()
    table.take(0, findings(stalled("i-1")))
    closed = closed_by_resume(table)
    decision = table.take(60, findings(stalled("i-2", 3)))
    assert (table.incident.id, decision.starts) == (closed.id, ())
    assert table.incident.status is IncidentStatus.CLOSED


def test_the_same_finding_after_the_close_is_no_second_incident() -> None:
    table = DecisionTable()
    table.take(0, findings(stalled("i-1"), stalled("i-2")))
    closed_by_resume(table)
    assert table.take(60, findings(stalled("i-1"), stalled("i-2"))).starts == ()
    assert len(table.incidents) == 1


def test_a_second_hang_is_a_second_incident_and_a_third_is_a_persons() -> None:
    table = DecisionTable()
    for round_ in range(3):
        start = 200.0 * round_
        table.take(start, findings(stalled("i-1", start)))
        incident = table.incidents[-1]
        if round_ < 2:
            carry_out(table, incident.id, start + 25, *RUN_RUNGS)
        else:
            assert table.answer(start + 25, ask(incident.id)).verdict == "parked"
    last = table.incidents[-1]
    assert len(table.incidents) == 3
    assert "restarts#job#train/llm is used up" in last.reason
    table.take(500, findings(stalled("i-2", 500)))
    assert len(table.incidents) == 3, "what waits for a person is not paged again"


def test_a_hang_of_a_run_that_is_stopped_for_a_node_is_a_note_of_that_incident() -> None:
    table = DecisionTable()
    table.take(0, findings(broken("i-1")))
    carry_out(table, table.incident.id, 25, Rung.ISOLATE)
    table.take(30, findings(stalled("i-2", 29), stalled("i-1", 29)))
    assert [note.kind for note in table.incident.findings] == [Kind.GPU_XID, *[Kind.TRAINING_STALLED] * 2]
    assert not any(entry.alert == "page" for entry in table.incident.timeline)


def test_a_hang_on_the_very_node_that_settles_joins_it() -> None:
    table = DecisionTable()
    table.take(0, findings(broken("i-1")))
    table.take(1, findings(stalled("i-1", 1)))
    assert len(table.incident.findings) == 2
    assert Rung.REPLACE_NODE in [each.rung for each in table.incident.rungs]


def test_a_hang_that_settles_beside_a_broken_node_is_merged_once_that_stops_the_run() -> None:
    table = DecisionTable()
    table.take(0, findings(stalled("i-2")))
    hang = table.incident
    table.take(1, findings(broken("i-1")))
    node = next(each for each in table.incidents if each.id != hang.id)
    carry_out(table, node.id, 22, Rung.ISOLATE)
    answer = table.answer(24, ask(hang.id))
    assert answer.verdict == "closed"
    ended = next(each for each in table.incidents if each.id == hang.id)
    assert (ended.outcome, ended.acted) == ("merged", False)
    job = table.job()
    assert job
    assert job.holds == (node.id,)


def test_a_node_that_breaks_while_its_hung_run_is_stopped_is_replaced_before_the_run_goes_on() -> None:
    table = DecisionTable()
    table.take(0, findings(stalled("i-1")))
    hang = table.incident.id
    carry_out(table, hang, 25, Rung.COLLECT_EVIDENCE)
    table.take(27, findings(broken("i-1", 27)))
    node = next(each for each in table.incidents if each.id != hang)
    carry_out(table, node.id, 50, Rung.ISOLATE)
    answer = table.answer(52, ask(hang, 2, report=report(Rung.SUSPEND_JOB, when=at(52))))
    assert (answer.verdict, answer.reason) == ("closed", f"the run stays stopped for {node.id}")
    assert [each.rung for each in node.rungs][-1] is Rung.CONFIRM_RESUME


def test_a_failed_sagemaker_job_keeps_its_own_lease() -> None:
    table = DecisionTable()
    job = JobRef(id="llama", orchestrator=Orchestrator.SAGEMAKER)
    table.take(0, findings(stalled("llama", job=job)))
    assert table.incident.generation == "llama#0"


def test_without_a_run_nothing_is_stopped() -> None:
    table = DecisionTable()
    table.take(0, findings(finding("i-1", policy=plan(*RUN_ONLY), job=None, kind=Kind.TRAINING_STALLED)))
    assert table.incident.outcome == "recorded"
