"""A checkpoint that the run does not go on from is set aside; what somebody else stops or resumes is left to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.decisions import Answer, PolicyPlan
from policies.contract.events import JobRef
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import Action, Orchestrator, PolicyMode
from policies.coordination.decide import decide
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.retreat import MOST_SET_ASIDE, steps_set_aside
from policies.coordination.snapshot import Change, Decision, Keys, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import ALL_ACTIVE, Switches
from tests.tools.incidents import CLUSTER, JOB, POLICY, RULES, Fact, ask, at, finding, findings, plan, report

AGAIN = (Rung.SUSPEND_JOB, Rung.CHOOSE_CHECKPOINT, Rung.RESUME_JOB, Rung.CONFIRM_RESUME)
SAGE_JOB = JobRef(id="llama", orchestrator=Orchestrator.SAGEMAKER)


class Run:
    """One incident with its job, told rung by rung."""

    def __init__(self, policy: PolicyPlan | None = None, job: JobRef = JOB) -> None:
        self.store, self.step, self.switches = MemoryStore(), 0, ALL_ACTIVE
        self._take(0, findings(finding(policy=policy or plan(settle=0, deadline=6000), job=job)))

    def _take(self, seconds: float, *messages: object) -> Decision:
        ids = frozenset(each.id for each in self.store.all_incidents())
        found = self.store.read(CLUSTER, Keys(ids, frozenset({"i-1#0"}), frozenset({"train/llm", "llama"})))
        snapshot = Snapshot(CLUSTER, found.incidents, found.leases, found.jobs, switches=self.switches)
        decision = decide(snapshot, messages, at(seconds), rules=RULES)  # type: ignore[arg-type]
        assert not decision.refused
        for change in (change for changes in decision.rounds for change in changes):
            self.store.write(change)
        return decision

    def tell(
        self, rung: Rung | None = None, status: RungStatus = RungStatus.DONE, facts: dict[str, Fact] | None = None
    ) -> Answer:
        told = report(rung, status, reason="step 5 came after it", **(facts or {})) if rung else None
        (reply,) = self._take(self.step + 1, ask(self.incident.id, self.step, report=told)).replies
        self.step += 1
        return reply.answer

    def upto_confirm(self, step: int = 900, answer: Answer | None = None) -> Answer:
        """Let everything be done until the resume from *step* is to be confirmed."""
        answer = answer or self.tell()
        while answer.rung and answer.rung is not Rung.CONFIRM_RESUME:
            chosen = {"chosen_step": step} if answer.rung is Rung.CHOOSE_CHECKPOINT else {}
            answer = self.tell(answer.rung, facts=chosen)
        return answer

    def fail(self) -> Answer:
        return self.tell(Rung.CONFIRM_RESUME, RungStatus.FAILED)

    @property
    def incident(self) -> Incident:
        return self.store.all_incidents()[0]

    @property
    def job(self) -> Job:
        return self.store.read(CLUSTER, Keys(jobs=frozenset({"train/llm"}))).jobs["train/llm"]


def test_the_run_is_stopped_again_and_the_step_is_told_to_the_choice() -> None:
    run = Run()
    before = run.upto_confirm()
    answer = run.fail()
    assert (answer.verdict, answer.rung) == ("act", Rung.SUSPEND_JOB)
    assert answer.fence == before.fence + 1  # the same rungs are other acts
    assert run.incident.turn == 1
    assert run.incident.facts["set_aside"] == [900]
    assert tuple(each.rung for each in run.incident.rungs[run.incident.position :]) == AGAIN
    assert run.job.holds == (run.incident.id,)
    entry = next(entry for entry in run.incident.timeline if entry.stage == "set_aside")
    assert (entry.detail, entry.alert) == ("step 900: step 5 came after it", "notify")


def test_the_earlier_step_that_loads_is_confirmed_and_the_run_let_go_twice() -> None:
    run = Run()
    run.upto_confirm()
    run.upto_confirm(800, run.fail())
    assert run.incident.status is IncidentStatus.RESUMING
    assert run.tell(Rung.CONFIRM_RESUME, facts={"confirmed_step": 801}).verdict == "closed"
    assert (run.job.holds, run.job.resumer, run.job.resumes) == ((), None, 2)
    assert run.incident.facts["chosen_step"] == 800
    assert run.incident.outcome == "replaced"


def test_after_three_a_person_is_asked() -> None:
    run = Run()
    answer = run.upto_confirm(900)
    for step in (800, 700, 600):
        answer = run.upto_confirm(step, run.fail())
    assert answer.rung is Rung.CONFIRM_RESUME
    answer = run.fail()
    assert answer.verdict == "parked"
    assert run.incident.reason.endswith("set aside before: step 900, 800, 700")
    assert run.incident.timeline[-1].alert == "page"
    assert (run.job.holds, run.job.resumer) == ((), None)


def test_a_choice_that_finds_nothing_left_parks_and_begins_nowhere() -> None:
    run = Run()
    run.upto_confirm()
    run.fail()
    run.tell(Rung.SUSPEND_JOB)
    answer = run.tell(Rung.CHOOSE_CHECKPOINT, RungStatus.FAILED)
    assert answer.verdict == "parked"
    assert "set aside before: step 900" in run.incident.reason


def test_a_run_that_others_stopped_meanwhile_is_theirs() -> None:
    run = Run()
    run.upto_confirm()
    job = run.job
    run.store.write(Change(job, job.model_copy(update={"holds": ("other",), "version": job.version + 1})))
    assert run.fail().verdict == "closed"
    assert "its resume is with other" in run.incident.reason


def test_a_policy_that_is_off_stops_nothing_again() -> None:
    run = Run()
    run.upto_confirm()
    run.switches = Switches({POLICY: PolicyMode.OFF})
    answer = run.fail()
    assert answer.verdict == "parked"
    assert "confirm_resume failed: step 5 came after it" in run.incident.reason
    assert steps_set_aside(run.incident) == []


def test_a_broken_executor_says_nothing_of_the_checkpoint() -> None:
    run = Run()
    run.upto_confirm()
    for _ in range(3):
        run._take(run.step + 1, ask(run.incident.id, run.step, error="S3 does not answer"))
        run.step += 1
        assert run.tell().rung is Rung.CONFIRM_RESUME
    assert steps_set_aside(run.incident) == []


def test_a_training_job_that_cannot_be_let_go_again_is_a_persons() -> None:
    run = Run(plan(Action.RESUME_JOB, settle=0), SAGE_JOB)
    run.upto_confirm()
    assert run.fail().verdict == "parked"


@given(st.lists(st.booleans(), max_size=12))
def test_however_often_it_fails_no_step_is_tried_twice_and_it_ends(loads: list[bool]) -> None:
    run, left = Run(), [900 - 100 * n for n in range(10)]
    answer = run.upto_confirm(left[0])
    tried = [left[0]]
    for good in loads:
        if answer.rung is not Rung.CONFIRM_RESUME:
            break
        answer = run.tell(Rung.CONFIRM_RESUME, facts={"confirmed_step": 1}) if good else run.fail()
        if answer.rung is Rung.SUSPEND_JOB:
            step = next(step for step in left if step not in steps_set_aside(run.incident))
            tried.append(step)
            answer = run.upto_confirm(step, answer)
    assert len(tried) == len(set(tried)) <= MOST_SET_ASIDE + 1
    assert steps_set_aside(run.incident) == tried[: len(steps_set_aside(run.incident))]
    if loads[: MOST_SET_ASIDE + 1].count(False) == MOST_SET_ASIDE + 1:
        assert run.incident.status is IncidentStatus.PARKED


def test_a_job_that_somebody_else_suspended_is_left_to_them_and_the_node_replaced() -> None:
    run = Run()
    answer = run.tell()
    while answer.rung is not Rung.SUSPEND_JOB:
        assert answer.rung
        answer = run.tell(answer.rung)
    answer = run.tell(Rung.SUSPEND_JOB, facts={"stood_aside": "somebody else had suspended the job"})
    assert answer.rung is Rung.REPLACE_NODE
    assert (run.job.holds, run.job.resumer) == ((), None)
    assert run.tell(Rung.REPLACE_NODE, facts={"new_instance": "i-2"}).rung is Rung.VERIFY_NODE
    answer = run.tell(Rung.VERIFY_NODE)
    assert (answer.verdict, run.incident.outcome) == ("closed", "replaced")
    assert run.incident.reason == "run train/llm is left alone: somebody else had suspended the job"
    assert "stood_aside" in [entry.stage for entry in run.incident.timeline]


def test_a_resume_that_somebody_else_made_is_not_judged_by_us() -> None:
    run = Run()
    answer = run.tell()
    while answer.rung is not Rung.RESUME_JOB:
        assert answer.rung
        answer = run.tell(answer.rung, facts={"chosen_step": 900} if answer.rung is Rung.CHOOSE_CHECKPOINT else {})
    assert run.tell(Rung.RESUME_JOB, facts={"stood_aside": "somebody else resumed"}).verdict == "closed"
    assert "somebody else resumed" in run.incident.reason


def test_a_training_job_that_sagemaker_repaired_is_left_alone() -> None:
    run = Run(plan(Action.RESUME_JOB, settle=0), SAGE_JOB)
    assert run.tell().rung is Rung.COLLECT_EVIDENCE
    assert run.tell(Rung.COLLECT_EVIDENCE).rung is Rung.SUSPEND_JOB
    answer = run.tell(Rung.SUSPEND_JOB, facts={"stood_aside": "SageMaker repaired the training cluster itself"})
    assert answer.verdict == "closed"
    assert "left alone" in run.incident.reason


def test_a_ladder_after_standing_aside_resumes_nothing() -> None:
    policy = plan(otherwise=(Action.ISOLATE, Action.RESUME_JOB), settle=0)
    run = Run(policy)
    answer = run.tell()
    while answer.rung is not Rung.SUSPEND_JOB:
        assert answer.rung
        answer = run.tell(answer.rung)
    run.tell(Rung.SUSPEND_JOB, facts={"stood_aside": "somebody else had suspended the job"})
    answer = run.tell(Rung.REPLACE_NODE, RungStatus.FAILED)
    assert answer.verdict == "parked"
    assert run.job.holds == ()


@pytest.mark.parametrize("junk", [None, "900", True])
def test_a_step_that_is_no_number_is_not_set_aside(junk: object) -> None:
    run = Run()
    run.upto_confirm(junk)  # type: ignore[arg-type]
    assert run.fail().verdict == "parked"
