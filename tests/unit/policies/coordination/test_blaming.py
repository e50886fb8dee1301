"""What is found about a run as a whole holds back what would be done to its nodes, and nothing else."""

from collections.abc import Sequence
from typing import Any

import pytest

from policies.contract.decisions import CloseMessage, PolicyPlan, WideRule
from policies.contract.events import JobRef
from policies.contract.restraints import ApproveMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Kind, PolicyMode
from policies.coordination.blaming import MOST_BLAMES
from policies.coordination.incident import Incident
from policies.coordination.switches import Switches
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, ask, finding, findings, plan, report
from tests.tools.incidents import at as moment
from tests.tools.wide import contributed, contribution, wide_rule

DAY_MS = 86_400_000
SCOPE = "job:train/llm"


def rule(priority: int = 50, mode: PolicyMode = PolicyMode.ACTIVE, same: str = "job.step") -> WideRule:
    how: dict[str, Any] = {"per": "job", "at_least": 2, "within_ms": DAY_MS, "occurrence_ms": 600_000, "same": same}
    made = wide_rule(Action.PAGE_OPERATOR, mode=mode, **how)
    return made.model_copy(update={"plan": made.plan.model_copy(update={"priority": priority})})


def blamed(table: DecisionTable, step: int = 1000, at: float = 0, **how: Any) -> None:  # noqa: ANN401 - of the rule
    """Have a run die twice at *step*, the second time at *at*, on another node."""
    made = rule(**how)
    same = str(step) if made.same else ""
    ends = [
        contribution(f"i-{number}", moment, seq=step, job=JobRef(id=JOB.id), same=same)
        for number, moment in ((8, at - 3600), (9, at))
    ]
    table.take(at + 1, contributed(*ends, rule=made, scope=SCOPE))


def broken(table: DecisionTable, at: float, step: int | None, policy: PolicyPlan | None = None) -> Incident:
    """Have a node of the run break at *step*, and its incident settle."""
    job = JOB.model_copy(update={"step": step})
    table.take(at, findings(finding("i-9", job=job, policy=policy, kind=Kind.GPU_XID)))
    incident = next(each for each in table.incidents if each.node.instance_id == "i-9" and each.generation == "i-9#0")
    table.take(at + 30, ask(incident.id))
    return next(each for each in table.incidents if each.id == incident.id)


def verdict(incident: Incident) -> str:
    assert incident.ask is not None
    return incident.ask.answer.verdict


@pytest.mark.parametrize("step", [1000, 1001, None])
def test_the_second_node_that_breaks_at_the_step_is_not_replaced_but_a_person_is_paged(step: int | None) -> None:
    table = DecisionTable()
    blamed(table)
    parked = broken(table, 10, step)
    assert verdict(parked) == "parked"
    assert "run train/llm fails at step 1000 whichever node it is" in parked.reason
    assert parked.timeline[-1].alert == "page"
    assert not parked.acted
    job = table.job()
    assert job is not None
    assert job.holds == (parked.id,)  # nobody brings it back onto that node meanwhile
    table.take(70, CloseMessage(cluster=CLUSTER, incident=parked.id, by="ada", reason="batch 77 is broken"))
    job = table.job()
    assert job is not None
    assert job.holds == ()


@pytest.mark.parametrize(
    "how", [{"priority": 0}, {"mode": PolicyMode.SHADOW}], ids=["of no higher priority", "a rehearsal"]
)
def test_who_may_not_say_so_holds_nobody_back(how: dict[str, Any]) -> None:
    table = DecisionTable()
    blamed(table, **how)
    assert verdict(broken(table, 10, 1000)) == "act"


def test_another_step_is_another_fault() -> None:
    table = DecisionTable()
    blamed(table)
    assert verdict(broken(table, 10, 1400)) == "act"


def test_a_policy_that_was_turned_off_holds_nobody_back() -> None:
    table = DecisionTable()
    table.switches = Switches(modes={"shared-storage-stalled": PolicyMode.OFF}, otherwise=PolicyMode.ACTIVE)
    blamed(table)
    assert verdict(broken(table, 10, 1000)) == "act"


def test_a_day_later_it_counts_no_more() -> None:
    table = DecisionTable()
    blamed(table, at=-86_400)
    assert verdict(broken(table, 10, 1000)) == "act"


def test_without_a_step_the_faults_of_its_nodes_wait_for_nothing() -> None:
    table = DecisionTable()
    blamed(table, same="")
    assert verdict(broken(table, 10, 1400)) == "act"


def hung(table: DecisionTable, at: float) -> Incident:
    """Have the run of the others stand still."""
    table.take(
        at, findings(finding("i-9", policy=plan(Action.RESUME_JOB), kind=Kind.TRAINING_STALLED, seen=moment(at)))
    )
    (about_the_run,) = [each for each in table.incidents if each.generation.startswith("run#")]
    return about_the_run


def test_without_a_step_who_would_stop_the_run_waits_as_long_as_the_evidence_lasts() -> None:
    table = DecisionTable()
    blamed(table, same="")
    waiting = hung(table, 10)
    told = table.answer(40, ask(waiting.id))
    assert (told.verdict, told.wait_seconds) == ("wait", 120)
    assert "2 nodes of job train/llm" in told.reason
    assert table.answer(899, ask(waiting.id, 1)).verdict == "wait"
    assert table.answer(901, ask(waiting.id, 2)).verdict == "act"


def test_what_lasts_is_waited_for_until_the_deadline_of_who_waits() -> None:
    table = DecisionTable()
    blamed(table, same="")
    waiting = hung(table, 10)
    for turn, at in enumerate((600, 1200)):
        lasts = contribution("i-8", at, seq=at, job=JobRef(id=JOB.id), occurrence="0" * 32, since=0)
        table.take(at, contributed(lasts, rule=rule(same=""), scope=SCOPE))
        assert table.answer(at + 290, ask(waiting.id, turn)).verdict in {"wait", "parked"}
    parked = next(each for each in table.incidents if each.id == waiting.id)
    assert "the deadline of 900 s passed" in parked.reason
    assert not parked.acted


def test_what_touches_no_node_goes_on() -> None:
    table = DecisionTable()
    blamed(table)
    table.take(10, findings(finding("i-9", policy=plan(Action.RESUME_JOB))))
    (about_the_run,) = [each for each in table.incidents if each.generation.startswith("run#")]
    assert table.answer(40, ask(about_the_run.id)).verdict == "act"


def test_who_had_begun_stops_before_the_next_act_on_the_node() -> None:
    table = DecisionTable()
    acting = broken(table, 10, 1000)
    assert verdict(acting) == "act"
    blamed(table, at=35)
    answers: list[tuple[str, Rung | None]] = []
    rungs: Sequence[Rung] = [Rung.ISOLATE, Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB]
    for step, rung in enumerate(rungs, 1):
        answer = table.answer(40 + step, ask(acting.id, step, report=report(rung)))
        answers.append((answer.verdict, answer.rung))
    assert answers == [("act", Rung.COLLECT_EVIDENCE), ("act", Rung.SUSPEND_JOB), ("parked", None)]


def test_a_person_may_approve_of_it_nevertheless() -> None:
    table = DecisionTable()
    blamed(table)
    parked = broken(table, 10, 1000)
    table.take(60, ApproveMessage(cluster=CLUSTER, incident=parked.id, by="ada", reason="the GPU is dead"))
    assert table.answer(61, ask(parked.id, attempt=2)).rung is Rung.ISOLATE


def test_of_many_steps_the_newest_are_kept() -> None:
    table = DecisionTable()
    for number in range(MOST_BLAMES + 3):
        blamed(table, step=100 * number, at=60 * number)
    job = table.job()
    assert job is not None
    assert [one.step for one in job.blamed] == [300, 400, 500, 600]
