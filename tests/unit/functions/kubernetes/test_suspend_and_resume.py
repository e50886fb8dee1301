import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.acts.support import Pace
from functions.kubernetes.resume import ResumeJob
from functions.kubernetes.suspend import SuspendJob
from functions.ports.kubernetes import (
    CHECKPOINTS,
    RESUME_FROM,
    RESUME_STEP,
    RESUMED_BY,
    SUSPENDED_BY,
    Connect,
    Job,
    JobChange,
    JobName,
    Node,
)
from functions.twins.instances import MemoryInstances
from functions.twins.kubernetes import MemoryCluster
from functions.twins.objects import MemoryObjects
from policies.contract.errors import DependencyError
from policies.contract.events import JobRef
from policies.contract.rungs import RungStatus
from policies.contract.times import format_time
from tests.tools.act_contexts import BUCKET, INCIDENT, OTHER, PLACE, START, Clock, Drive
from tests.tools.faulty_ports import LosesAnswers

NAME = JobName("ml", "run")
JOB = JobRef(id="ml/run", checkpoint="s3://from-the-event/run")
FACTS = {"chosen_step": 20, "checkpoint": f"{PLACE}/step-20", "checkpoints": PLACE}
POINTER = "run-7/relight-resume.json"


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.instances = MemoryInstances(self.clock, shutdown_seconds=30)
        self.objects = MemoryObjects(self.clock)
        self.cluster = MemoryCluster()
        for name in ("n0", "n1"):
            self.instances.launch("gpus", f"i-{name}")
            self.cluster.nodes[name] = Node(name, "1", f"i-{name}", ready=True)
        self.cluster.jobs[NAME] = Job(NAME, "uid", "1", annotations={CHECKPOINTS: PLACE}, replicas=("Worker",))
        self.cluster.start_pods(NAME, ["n0", "n1"])

    @property
    def job(self) -> Job:
        return self.cluster.jobs[NAME]

    def set_job(self, **changes: object) -> None:
        self.cluster.jobs[NAME] = replace(self.job, **changes)  # type: ignore[arg-type]

    def suspend(self, connect: Connect | None = None, job: JobRef | None = JOB, incident: str = INCIDENT) -> Drive:
        act = SuspendJob(connect=connect or self.cluster.connect, instances=self.instances, pace=Pace())
        return Drive(act, self.clock, node="i-n0", job=job, incident=incident)

    def resume(self, connect: Connect | None = None, incident: str = INCIDENT, **facts: object) -> Drive:
        act = ResumeJob(connect=connect or self.cluster.connect, objects=self.objects)
        return Drive(act, self.clock, node="i-n0", job=JOB, facts=facts or FACTS, incident=incident)

    def suspended(self) -> "World":
        drive = self.suspend()
        drive()
        self.cluster.settle()
        assert drive().status is RungStatus.DONE
        return self


@pytest.fixture
def world() -> World:
    return World()


def test_a_job_is_suspended_once_and_done_when_its_pods_are_gone(world: World) -> None:
    drive = world.suspend()
    first = drive()
    assert (first.status, first.reason) == (
        RungStatus.WAITING,
        "2 pods of job ml/run are still there (run-worker-0, run-worker-1)",
    )
    world.clock.move(4)
    drive()
    world.cluster.settle()
    done = drive()
    assert done.status is RungStatus.DONE
    assert done.outcome == {"suspended_at": format_time(START), "checkpoints": PLACE}
    assert (world.job.suspended, world.job.annotations[SUSPENDED_BY]) == (True, INCIDENT)
    assert len(world.cluster.changes) == 1
    assert world.cluster.forced == []


def test_a_crash_between_effect_and_report_suspends_no_second_time(world: World) -> None:
    drive = world.suspend()
    drive()
    drive.restart()
    world.cluster.settle()
    assert drive().status is RungStatus.DONE
    assert len(world.cluster.changes) == 1


def test_a_lost_answer_suspends_no_second_time(world: World) -> None:
    lossy = LosesAnswers(world.cluster, "change_job")
    drive = world.suspend(connect=lambda _settings: nullcontext(lossy))
    with pytest.raises(DependencyError):
        drive()
    world.cluster.settle()
    assert drive().status is RungStatus.DONE
    assert len(world.cluster.changes) == 1


def test_a_second_incident_of_the_job_waits_for_the_same_pods_and_changes_nothing(world: World) -> None:
    world.suspend()()
    second = world.suspend(incident=OTHER)
    assert second().status is RungStatus.WAITING
    world.cluster.settle()
    assert second().status is RungStatus.DONE
    assert world.job.annotations[SUSPENDED_BY] == INCIDENT


def test_a_job_that_somebody_else_suspended_is_left_to_them(world: World) -> None:
    world.set_job(suspended=True)
    report = world.suspend()()
    assert (report.status, report.outcome["stood_aside"]) == (RungStatus.DONE, "somebody else had suspended the job")
    assert world.cluster.changes == []
    refused = world.resume()()
    assert (refused.status, "theirs to resume" in refused.reason) == (RungStatus.FAILED, True)
    assert world.objects.writes == []


@pytest.mark.parametrize("finished", ["Succeeded", "Failed"])
def test_a_terminal_job_is_neither_suspended_nor_resumed(world: World, finished: str) -> None:
    world.set_job(finished=finished)
    for drive in (world.suspend(), world.resume()):
        report = drive()
        assert report.status is RungStatus.FAILED
        assert report.reason.startswith("terminal: PyTorchJob ml/run has ")
    assert world.cluster.changes == []


def test_pods_of_a_dead_node_are_forced_away_only_after_ec2_says_it_is_gone(world: World) -> None:
    world.cluster.dead_nodes.add("n0")
    world.cluster.nodes["n0"] = replace(world.cluster.nodes["n0"], ready=False)
    world.instances.replace("i-n0")
    drive = world.suspend()
    drive()
    world.cluster.settle()
    world.clock.move(10)
    assert drive().status is RungStatus.WAITING
    assert world.cluster.forced == []
    world.clock.move(30)
    assert drive().status is RungStatus.WAITING
    assert world.cluster.forced == ["run-worker-0"]
    assert drive().status is RungStatus.DONE


def test_a_pod_that_takes_its_time_on_a_living_node_is_never_forced(world: World) -> None:
    drive = world.suspend()
    for _ in range(5):
        assert drive().status is RungStatus.WAITING
        world.clock.move(60)
    assert world.cluster.forced == []


def test_pods_that_never_go_fail_the_rung_at_the_deadline(world: World) -> None:
    report = world.suspend().until_done(step_seconds=60)
    assert report.status is RungStatus.FAILED
    assert "run-worker-0" in report.reason


def test_an_incident_without_a_job_or_with_a_deleted_one_says_so(world: World) -> None:
    assert "names no job" in world.suspend(job=None)().reason
    assert "there is no PyTorchJob ml/gone" in world.suspend(job=JobRef(id="ml/gone"))().reason


def test_where_the_checkpoints_lie_falls_back_to_the_event(world: World) -> None:
    world.set_job(annotations={})
    assert world.suspend()().outcome["checkpoints"] == "s3://from-the-event/run"


def test_the_job_is_let_go_once_with_pointer_and_annotations(world: World) -> None:
    drive = world.suspended().resume()
    before = len(world.cluster.changes)
    assert [drive().outcome for _ in range(3)] == [{"resumed_step": 20, "resumed_at": format_time(START)}] * 3
    assert len(world.cluster.changes) == before + 1
    assert world.objects.writes == [(BUCKET, POINTER)]
    stored = world.objects.get(BUCKET, POINTER)
    assert stored is not None
    assert json.loads(stored.body) == {
        "step": 20,
        "path": f"{PLACE}/step-20",
        "incident": INCIDENT,
        "time": format_time(START),
    }
    assert not world.job.suspended
    assert world.job.annotations == {CHECKPOINTS: PLACE, RESUMED_BY: INCIDENT, RESUME_STEP: "20"}
    assert world.cluster.templates[NAME] == {RESUME_FROM: f"{PLACE}/step-20", RESUME_STEP: "20"}


def test_a_lost_answer_resumes_no_second_time(world: World) -> None:
    lossy = LosesAnswers(world.suspended().cluster, "change_job")
    before = len(world.cluster.changes)
    drive = world.resume(connect=lambda _settings: nullcontext(lossy))
    with pytest.raises(DependencyError):
        drive()
    assert "stood_aside" not in drive().outcome
    assert len(world.cluster.changes) == before + 1
    assert len(world.objects.writes) == 1


def test_a_crash_after_the_pointer_writes_it_no_second_time(world: World) -> None:
    world.suspended()
    broken = world.resume(connect=lambda _settings: nullcontext(BreaksOnChange(world.cluster)))  # type: ignore[arg-type]
    with pytest.raises(DependencyError):
        broken()
    world.clock.move(30)
    assert world.resume()().status is RungStatus.DONE
    assert len(world.objects.writes) == 1


class BreaksOnChange:
    def __init__(self, inner: MemoryCluster) -> None:
        self.job = inner.job

    def change_job(self, job: Job, change: JobChange) -> None:
        raise DependencyError("the API server is away.")


def test_an_older_incidents_pointer_is_written_over(world: World) -> None:
    world.objects.put(BUCKET, POINTER, b'{"step": 10, "path": "x", "incident": "old", "time": "t"}')
    world.suspended().resume()()
    stored = world.objects.get(BUCKET, POINTER)
    assert stored is not None
    assert json.loads(stored.body)["step"] == 20


def test_a_pointer_that_is_no_json_is_written_over(world: World) -> None:
    world.objects.put(BUCKET, POINTER, b"\xff torn")
    assert world.suspended().resume()().status is RungStatus.DONE
    assert len(world.objects.writes) == 1


def test_a_job_that_somebody_else_resumed_is_noted_and_left_alone(world: World) -> None:
    report = world.resume()()
    assert (report.status, report.outcome["stood_aside"]) == (RungStatus.DONE, "somebody else resumed")
    assert world.cluster.changes == []


def test_nothing_is_resumed_before_a_checkpoint_is_chosen(world: World) -> None:
    report = world.suspended().resume(chosen_step=20)()
    assert (report.status, report.reason) == (
        RungStatus.FAILED,
        "no checkpoint was chosen; choose_checkpoint comes before resume_job",
    )
    assert world.job.suspended


def test_a_namesake_made_after_the_fault_on_other_nodes_runs_on(world: World) -> None:
    drive = world.suspend()
    world.set_job(uid="another", created_at=START + timedelta(seconds=2))
    world.cluster.pods.clear()
    world.cluster.start_pods(NAME, ["n1"])
    report = drive()
    assert report.status is RungStatus.DONE
    assert "made anew" in report.outcome["stood_aside"]
    assert world.cluster.changes == []


@pytest.mark.parametrize(("created", "nodes"), [(-3600, ["n1"]), (2, ["n0", "n1"])])
def test_the_job_that_was_hit_or_that_stands_on_the_bad_node_is_suspended(
    world: World, created: float, nodes: list[str]
) -> None:
    drive = world.suspend()
    world.set_job(created_at=START + timedelta(seconds=created))
    world.cluster.pods.clear()
    world.cluster.start_pods(NAME, nodes)
    assert drive().status is RungStatus.WAITING
    assert world.job.suspended


def test_a_job_that_kueue_admits_is_not_fought_over(world: World) -> None:
    world.set_job(queue="team-a")
    report = world.suspend()()
    assert report.status is RungStatus.FAILED
    assert "Kueue (queue team-a)" in report.reason
    assert world.cluster.changes == []
