"""A run that is down stays down for the seconds in which somebody else may come to need that, and no longer."""

from policies.contract.restraints import Cancellation
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action
from policies.coordination.holds import MOST_SETTLING, Job, drop, expect, hold
from policies.coordination.opening import LONGEST_WAITED_FOR_SECONDS
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, finding, findings, plan, report

STOPPED = (Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB)


def stopped(table: DecisionTable) -> str:
    """Have the run stopped for a hang, and return the incident, which is to ask at step 3."""
    table.take(0, findings(finding("i-1", policy=plan(Action.RESUME_JOB, settle=5))))
    hang = table.incident.id
    table.take(6, ask(hang))
    for step, rung in enumerate(STOPPED[:-1], 1):
        table.take(7 + step, ask(hang, step, report=report(rung)))
    return hang


def test_who_may_need_it_stopped_in_some_seconds_is_waited_for_and_resumes_it() -> None:
    table = DecisionTable()
    hang = stopped(table)
    table.take(10, findings(finding("i-2", policy=plan(settle=20), seen=at(10))))
    broken = next(each.id for each in table.incidents if each.id != hang)
    told = table.answer(12, ask(hang, 2, report=report(Rung.SUSPEND_JOB)))
    assert (told.verdict, told.wait_seconds) == ("wait", 28)
    assert table.answer(31, ask(broken)).rung is Rung.ISOLATE
    assert table.answer(40, ask(hang, 3)).verdict == "closed"
    job = table.job()
    assert job is not None
    assert (job.holds, job.resumer, job.settling) == ((broken,), None, {})


def test_who_needs_it_not_after_all_keeps_nobody_waiting() -> None:
    table = DecisionTable()
    hang = stopped(table)
    table.take(10, findings(finding("i-2", policy=plan(settle=20), seen=at(10))))
    broken = next(each.id for each in table.incidents if each.id != hang)
    over = Cancellation(policy=plan().name, generation="i-2#0", at=at(15), event_id="e")
    table.take(15, findings().model_copy(update={"cancellations": (over,)}))
    assert table.answer(31, ask(broken)).verdict == "closed"
    assert table.answer(32, ask(hang, 2, report=report(Rung.SUSPEND_JOB))).rung is Rung.CHOOSE_CHECKPOINT


def test_whoever_dies_while_it_settles_keeps_the_run_down_for_two_minutes_at_most() -> None:
    table = DecisionTable()
    hang = stopped(table)
    table.take(10, findings(finding("i-2", policy=plan(settle=600), seen=at(10))))
    assert table.answer(12, ask(hang, 2, report=report(Rung.SUSPEND_JOB))).verdict == "wait"
    late = 11 + LONGEST_WAITED_FOR_SECONDS
    assert table.answer(late, ask(hang, 3)).rung is Rung.CHOOSE_CHECKPOINT


def test_who_settles_is_forgotten_when_it_holds_the_run_or_leaves_it() -> None:
    job = Job(cluster=CLUSTER, id="train/llm")
    for number in range(MOST_SETTLING + 4):
        job = expect(job, f"incident-{number:02d}", at(60 + number), at(0))
    assert len(job.settling) == MOST_SETTLING
    assert "incident-19" not in hold(job, "incident-19").settling
    assert "incident-19" not in drop(job, "incident-19").settling
    assert expect(job, "later", at(600), at(500)).settling == {"later": at(600)}


def test_a_hang_that_ends_by_itself_on_all_nodes_that_told_of_it_touches_nothing() -> None:
    policy = plan(Action.RESUME_JOB, settle=30)
    over = [
        Cancellation(policy=policy.name, generation=f"{node}#0", at=at(15), event_id="e") for node in ("i-1", "i-2")
    ]
    table = DecisionTable()
    table.take(0, findings(finding("i-1", policy=policy), finding("i-2", policy=policy)))
    table.take(15, findings().model_copy(update={"cancellations": tuple(over[:1])}))
    assert table.answer(20, ask(table.incident.id)).verdict == "wait"
    table.take(21, findings().model_copy(update={"cancellations": tuple(over[1:])}))
    assert table.answer(31, ask(table.incident.id, 1)).verdict == "closed"
    assert table.incident.outcome == "cleared"


def test_one_node_that_still_says_so_is_enough_to_act() -> None:
    policy = plan(Action.RESUME_JOB, settle=30)
    over = Cancellation(policy=policy.name, generation="i-1#0", at=at(15), event_id="e")
    table = DecisionTable()
    table.take(0, findings(finding("i-1", policy=policy), finding("i-2", policy=policy)))
    table.take(15, findings().model_copy(update={"cancellations": (over,)}))
    assert table.answer(31, ask(table.incident.id)).verdict == "act"
