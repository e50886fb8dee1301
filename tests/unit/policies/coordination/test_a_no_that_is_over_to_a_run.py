"""What was found of a run while a no held is nobody's question once another incident has stopped it and let it go."""

from typing import Any

from policies.contract.decisions import Finding, SweepMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Kind
from policies.coordination.incident import Incident
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, finding, findings, plan, report
from tests.tools.refusals import ENDS, MINUTE, no, opened

HANGS = plan(Action.RESUME_JOB, approval=True, settle=0, name="hangs")
BREAKS = plan(settle=0, name="breaks")
LATE = ENDS - 20 * MINUTE
LEARNED: dict[str, Any] = {"new_instance": "i-9"}


def hang(seconds: float) -> Finding:
    return finding(name=f"hang-{seconds}", policy=HANGS, seen=at(seconds), kind=Kind.TRAINING_STALLED)


def told_once() -> DecisionTable:
    table = DecisionTable()
    table.take(0, findings(hang(0)))
    assert table.answer(1, ask(table.incident.id)).verdict == "parked"
    table.take(90, no(table.incident, 90))
    table.take(LATE + 1, findings(hang(LATE)))
    return table


def swept(table: DecisionTable, seconds: float) -> list[Incident]:
    table.take(seconds, SweepMessage(cluster=CLUSTER, at=at(seconds)))
    return [each for each in opened(table) if each.policy.name == HANGS.name]


def carry_out(table: DecisionTable, since: float, until: Rung) -> float:
    """Have another node of the run break, and done what is to be done for it as far as that rung; return when it is."""
    table.take(since, findings(finding("i-2", policy=BREAKS, seen=at(since))))
    (acting,) = opened(table)
    told = table.answer(since, ask(acting.id))
    for step in range(1, 20):
        assert told.rung is not None
        rung, moment = told.rung, since + step
        done = report(rung, when=at(moment), **LEARNED) if rung is Rung.REPLACE_NODE else report(rung, when=at(moment))
        told = table.answer(moment, ask(acting.id, step, report=done))
        if rung is until:
            return moment
    raise AssertionError(until)


def test_a_run_that_nobody_touched_since_is_asked_about() -> None:
    assert len(swept(told_once(), ENDS)) == 1


def test_a_run_that_was_stopped_and_let_go_since_is_history() -> None:
    table = told_once()
    carry_out(table, LATE + MINUTE, Rung.CONFIRM_RESUME)
    job = table.job()
    assert job is not None
    assert job.resumes == 1
    assert [swept(table, ENDS + minute * MINUTE) for minute in range(3)] == [[], [], []]


def test_a_run_that_somebody_has_stopped_is_seen_to() -> None:
    table = told_once()
    end = carry_out(table, ENDS - MINUTE, Rung.SUSPEND_JOB)
    assert swept(table, end + MINUTE) == []


def test_what_was_found_after_the_run_was_let_go_is_asked_about() -> None:
    table = told_once()
    carry_out(table, LATE + MINUTE, Rung.CONFIRM_RESUME)
    table.take(ENDS - 2 * MINUTE, findings(hang(ENDS - 2 * MINUTE)))
    assert len(swept(table, ENDS)) == 1
