"""What a report teaches an incident: the run whose pods are on the node, or that the node is well after all."""

from policies.contract.decisions import RungReport
from policies.contract.events import JobRef
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Kind
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Change
from policies.coordination.states import IncidentStatus
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, REPLACE, Fact, ask, at, finding, findings, plan, report

RUN = {"id": "train/llm", "orchestrator": "eks", "checkpoint": "s3://ckpt/llm"}
REST = [
    Rung.COLLECT_EVIDENCE,
    Rung.FENCE_NODE,
    Rung.SUSPEND_JOB,
    Rung.REPLACE_NODE,
    Rung.VERIFY_NODE,
    Rung.CHOOSE_CHECKPOINT,
    Rung.RESUME_JOB,
    Rung.CONFIRM_RESUME,
]


class Table(DecisionTable):
    """A silent node's incident that is about to isolate it."""

    def __init__(self, do: tuple[Action, ...] = REPLACE) -> None:
        super().__init__()
        self.take(0, findings(finding(job=None, kind=Kind.NODE_SILENT, policy=plan(*do))))
        self.id = self.incident.id
        self.answer(25, ask(self.id))

    def isolated(self, **outcome: Fact) -> RungReport:
        return report(Rung.ISOLATE, when=at(26), isolated="n", **outcome)


def rungs(incident: Incident) -> list[Rung]:
    return [each.rung for each in incident.rungs]


def test_a_silent_node_names_no_run_so_nothing_is_planned_for_one() -> None:
    table = Table()
    assert table.incident.job is None
    assert Rung.SUSPEND_JOB not in rungs(table.incident)


def test_the_run_that_was_found_on_the_node_is_suspended_and_resumed() -> None:
    table = Table()
    answer = table.answer(26, ask(table.id, 1, report=table.isolated(job=RUN)))
    assert answer.rung is Rung.COLLECT_EVIDENCE
    assert table.incident.job == JobRef.model_validate(RUN)
    assert rungs(table.incident) == [Rung.ISOLATE, *REST]


def test_the_run_is_held_from_then_on() -> None:
    table = Table()
    table.answer(26, ask(table.id, 1, report=table.isolated(job=RUN)))
    job = table.job()
    assert job
    assert job.holds == (table.id,)


def test_the_run_is_held_with_those_who_hold_it_already() -> None:
    table = Table()
    table.store.write(Change(None, Job(cluster=CLUSTER, id="train/llm", holds=("other",), resumes=2)))
    table.answer(26, ask(table.id, 1, report=table.isolated(job=RUN)))
    table.answer(27, ask(table.id, 2, report=report(Rung.COLLECT_EVIDENCE, when=at(27))))
    answer = table.answer(28, ask(table.id, 3, report=report(Rung.FENCE_NODE, when=at(28))))
    assert answer.rung is Rung.SUSPEND_JOB
    job = table.job()
    assert job
    assert (set(job.holds), job.resumes) == ({"other", table.id}, 2)


def test_the_same_report_again_changes_nothing() -> None:
    table = Table()
    message = ask(table.id, 1, report=table.isolated(job=RUN))
    table.answer(26, message)
    before = table.incident
    table.answer(27, message)
    assert table.incident == before


def test_a_policy_that_does_not_resume_leaves_the_run_alone() -> None:
    table = Table((Action.ISOLATE, Action.REPLACE_NODE))
    table.answer(26, ask(table.id, 1, report=table.isolated(job=RUN)))
    assert Rung.SUSPEND_JOB not in rungs(table.incident)


def test_what_is_no_run_teaches_nothing() -> None:
    table = Table()
    table.answer(26, ask(table.id, 1, report=table.isolated(job={"rank": "?"})))
    assert table.incident.job is None


def test_a_run_that_is_known_stays() -> None:
    table = Table()
    known = table.incident.model_copy(update={"job": JOB})
    table.store.write(Change(table.incident, known.model_copy(update={"version": known.version + 1})))
    table.answer(26, ask(table.id, 1, report=table.isolated(job={"id": "other/run"})))
    assert table.incident.job == JOB


def test_a_node_that_speaks_again_before_anything_was_done_ends_the_incident() -> None:
    table = Table()
    answer = table.answer(26, ask(table.id, 1, report=report(Rung.ISOLATE, when=at(26), recovered="heard again")))
    assert answer.verdict == "closed"
    assert (table.incident.status, table.incident.outcome) == (IncidentStatus.CLOSED, "recovered")
    assert table.incident.reason == "heard again"
