from dataclasses import replace

import pytest

from functions.acts.support import Pace
from functions.checkpoints.confirm import ConfirmResume
from functions.sagemaker.confirm import ConfirmTrainingJob
from functions.sagemaker.lineage import successor_name
from functions.sagemaker.resume import ResumeTrainingJob
from functions.sagemaker.suspend import Grace, SuspendTrainingJob
from functions.twins.objects import MemoryObjects
from functions.twins.training_jobs import MemoryTrainingJobs
from policies.contract.errors import DependencyError
from policies.contract.events import JobRef
from policies.contract.rungs import RungStatus
from policies.contract.times import format_time
from tests.tools.act_contexts import BUCKET, INCIDENT, OTHER, PLACE, START, Clock, Drive
from tests.tools.faulty_ports import LosesAnswers

JOB = JobRef(id="run")
FACTS = {"chosen_step": 20, "checkpoint": f"{PLACE}/step-20", "checkpoints": PLACE}
REQUEST = {
    "TrainingJobName": "run",
    "RoleArn": "arn:aws:iam::123456789012:role/train",
    "ResourceConfig": {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 8, "VolumeSizeInGB": 100},
    "CheckpointConfig": {"S3Uri": PLACE, "LocalPath": "/opt/ml/checkpoints"},
    "HyperParameters": {"lr": "0.1"},
    "Environment": {"NCCL_DEBUG": "INFO"},
    "Tags": [{"Key": "team", "Value": "a"}, {"Key": "relight:cluster", "Value": "train"}],
}
REPAIRING = "Repairing training cluster due to hardware failure"


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.jobs = MemoryTrainingJobs(self.clock)
        self.jobs.create(REQUEST)
        self.jobs.created.clear()
        self.jobs.set("run", secondary_status="Training", status_message="Training image download completed.")
        self.objects = MemoryObjects(self.clock)

    def suspend(self, job: JobRef | None = JOB) -> Drive:
        act = SuspendTrainingJob(jobs=self.jobs, pace=Pace(), grace=Grace(180))
        return Drive(act, self.clock, node="i-a", job=job)

    def resume(self, jobs: object = None, incident: str = INCIDENT, **facts: object) -> Drive:
        act = ResumeTrainingJob(jobs=jobs or self.jobs, pace=Pace())  # type: ignore[arg-type]
        return Drive(act, self.clock, node="i-a", job=JOB, facts={**FACTS, **facts}, incident=incident)

    def confirm(self, name: str = "run-r01") -> Drive:
        act = ConfirmTrainingJob(jobs=self.jobs, written=ConfirmResume(objects=self.objects, pace=Pace()))
        facts = {**FACTS, "resumed_at": format_time(START), "resumed_job": name}
        return Drive(act, self.clock, node="i-a", job=JOB, facts=facts)


@pytest.fixture
def world() -> World:
    return World()


def test_sagemakers_own_repair_goes_first_and_if_it_works_we_stand_aside(world: World) -> None:
    world.jobs.set("run", secondary_status="Restarting", status_message=REPAIRING)
    suspend = world.suspend()
    for _ in range(5):
        assert (suspend().status, suspend().reason) == (RungStatus.WAITING, "SageMaker repairs run itself")
        world.clock.move(120)
    world.jobs.set("run", secondary_status="Training", status_message="Training in progress")
    report = suspend()
    assert report.outcome["stood_aside"] == "SageMaker repaired the training cluster itself"
    assert world.jobs.stopped == []
    resumed = world.resume(**report.outcome)()
    assert (resumed.status, resumed.outcome["resumed_job"], world.jobs.created) == (RungStatus.DONE, "run", [])


def test_a_failed_job_is_ours_to_resume_at_once(world: World) -> None:
    world.jobs.set("run", status="Failed", secondary_status="Failed")
    report = world.suspend()()
    assert (report.status, report.outcome) == (
        RungStatus.DONE,
        {"suspended_at": format_time(START), "checkpoints": PLACE},
    )


def test_a_job_that_hangs_is_stopped_once_after_the_grace_and_waited_for(world: World) -> None:
    suspend = world.suspend()
    assert suspend().reason == "SageMaker may still repair run itself"
    assert world.jobs.stopped == []
    world.clock.move(181)
    assert suspend().reason == "training job run is about to be stopped"
    assert world.jobs.stopped == []
    for _ in range(3):
        assert suspend().status is RungStatus.WAITING
    assert world.jobs.stopped == ["run"]
    world.jobs.settle()
    assert suspend().status is RungStatus.DONE


def test_a_stop_whose_answer_is_lost_is_known_as_ours(world: World) -> None:
    act = SuspendTrainingJob(jobs=LosesAnswers(world.jobs, "stop"), pace=Pace(), grace=Grace(0))
    suspend = Drive(act, world.clock, node="i-a", job=JOB)
    suspend()
    with pytest.raises(DependencyError):
        suspend()
    world.jobs.settle()
    assert suspend().status is RungStatus.DONE


@pytest.mark.parametrize(
    ("secondary", "told"),
    [("Stopped", "was stopped (by somebody else)"), ("MaxRuntimeExceeded", "was stopped (MaxRuntimeExceeded)")],
)
def test_a_job_that_somebody_else_stopped_stays_stopped(world: World, secondary: str, told: str) -> None:
    suspend = world.suspend()
    suspend()
    world.jobs.set("run", status="Stopped", secondary_status=secondary)
    report = suspend()
    assert report.status is RungStatus.FAILED
    assert told in report.reason


def test_a_completed_job_has_nothing_to_resume(world: World) -> None:
    world.jobs.set("run", status="Completed")
    assert world.suspend()().reason.startswith("terminal: training job run has completed")


def test_a_job_that_is_not_there_is_named(world: World) -> None:
    assert world.suspend(JobRef(id="gone"))().reason == "there is no training job gone"
    assert world.suspend(None)().reason == "there is no training job (none named)"


def test_the_successor_carries_everything_over_and_says_where_it_comes_from(world: World) -> None:
    world.jobs.set("run", status="Failed")
    report = world.resume()()
    assert report.outcome == {"resumed_step": 20, "resumed_at": format_time(START), "resumed_job": "run-r01"}
    successor = world.jobs.jobs["run-r01"]
    for field in ("RoleArn", "ResourceConfig", "CheckpointConfig", "HyperParameters"):
        assert successor.request[field] == REQUEST[field]
    assert successor.request["Environment"] == {
        "NCCL_DEBUG": "INFO",
        "RELIGHT_RESUME_STEP": "20",
        "RELIGHT_RESUME_FROM": f"{PLACE}/step-20",
    }
    assert successor.tags == {
        "team": "a",
        "relight:cluster": "train",
        "relight:incident": INCIDENT,
        "relight:previous-job": "run",
    }


def test_repeats_and_lost_answers_start_one_successor(world: World) -> None:
    world.jobs.set("run", status="Failed")
    resume = world.resume(jobs=LosesAnswers(world.jobs, "create"))
    with pytest.raises(DependencyError):
        resume()
    assert [resume().outcome["resumed_job"] for _ in range(3)] == ["run-r01"] * 3
    assert world.jobs.created == ["run-r01"]


def test_a_predecessor_that_still_runs_is_never_joined_by_a_second_writer(world: World) -> None:
    assert world.resume()().reason == "training job run still runs (InProgress)"
    assert world.jobs.created == []


def test_a_successor_of_another_incident_that_runs_is_not_overtaken(world: World) -> None:
    world.jobs.set("run", status="Failed")
    world.resume(incident=OTHER)()
    report = world.resume()()
    assert report.status is RungStatus.DONE
    assert report.outcome["stood_aside"] == f"run-r01 goes on already, started for {OTHER}"
    assert world.jobs.created == ["run-r01"]


def test_after_an_ended_successor_the_line_goes_on(world: World) -> None:
    world.jobs.set("run", status="Failed")
    world.resume(incident=OTHER)()
    world.jobs.set("run-r01", status="Failed")
    assert world.resume()().outcome["resumed_job"] == "run-r02"
    assert world.jobs.jobs["run-r02"].tags["relight:previous-job"] == "run-r01"


def test_the_end_of_a_line_says_so(world: World) -> None:
    last = replace(world.jobs.jobs.pop("run"), name="run-r99", status="Failed")
    world.jobs.jobs["run-r99"] = last
    resume = world.resume()
    resume.job = JobRef(id="run-r99")
    assert "run-r99 is the last name in its line" in resume().reason


@pytest.mark.parametrize(
    ("name", "following"),
    [
        ("run", "run-r01"),
        ("run-r01", "run-r02"),
        ("run-r09", "run-r10"),
        ("x" * 63, "x" * 59 + "-r01"),
        ("x" * 58 + "-yyyy", "x" * 58 + "-r01"),
        ("x" * 59 + "-r41", "x" * 59 + "-r42"),
    ],
)
def test_names_stay_within_sixty_three_characters(name: str, following: str) -> None:
    assert successor_name(name) == following
    assert len(following) <= 63


def test_a_resumed_job_is_confirmed_by_what_it_writes(world: World) -> None:
    world.jobs.set("run", status="Failed")
    world.resume()()
    confirm = world.confirm()
    assert confirm().status is RungStatus.WAITING
    world.objects.put(BUCKET, "run-7/relight-progress.json", b'{"step": 25}')
    assert confirm().outcome["confirmed_step"] == 25


def test_a_resumed_job_that_fails_is_not_waited_for(world: World) -> None:
    world.jobs.set("run", status="Failed")
    world.resume()()
    world.jobs.set("run-r01", status="Failed", failure_reason="AlgorithmError: exit code 1")
    report = world.confirm()()
    assert (report.status, report.reason) == (
        RungStatus.FAILED,
        "the resumed training job run-r01 is failed: AlgorithmError: exit code 1",
    )
    assert world.confirm("")().reason == "the resumed training job (none named) is not there"
