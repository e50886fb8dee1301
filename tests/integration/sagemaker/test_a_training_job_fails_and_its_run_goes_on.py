"""A training job ends for its hardware: exactly one successor goes on, from the newest complete checkpoint."""

from typing import Literal

import pytest

from policies.coordination.incident import Incident
from tests.integration.sagemaker.world import ECC, INTERNAL, REPAIRING, Run, World

STAGES = ["seen", "queued", "decided", "job_suspended", "checkpoint_chosen", "resumed", "confirmed", "closed"]
LOST = "sagemaker-job-lost-its-instances"


def fails(jobs: World, name: str, reason: str = INTERNAL) -> Run:
    """A run with two whole checkpoints and a torn one; its job has just failed."""
    run = jobs.run(name)
    run.start()
    run.save(10, 20)
    run.save(30, torn=True)
    run.fail(reason)
    return run


def goes_on(run: Run, successor: str, incidents: int = 1) -> Incident:
    """The successor is started, trains past the chosen step, and the incident is closed."""
    run.wait_started(successor)
    run.wait_at("resumed", incidents)
    run.train_on(successor)
    return run.wait_closed(incidents)[-1]


def test_the_run_goes_on_from_the_newest_complete_checkpoint(jobs: World) -> None:
    run = fails(jobs, "llama")
    incident = goes_on(run, "llama-r01")
    assert (incident.policy.name, incident.outcome) == (LOST, "recovered")
    assert [line.stage for line in incident.timeline if line.stage in STAGES] == STAGES
    assert [refused["step"] for refused in incident.facts["refused"]] == [30]
    assert (incident.facts["chosen_step"], incident.facts["confirmed_step"]) == (20, 30)
    first, second = run.job("llama"), run.job("llama-r01")
    assert run.jobs() == ["llama", "llama-r01"]
    assert (first["TrainingJobStatus"], second["TrainingJobStatus"]) == ("Failed", "InProgress")
    for kept in ("CheckpointConfig", "RoleArn", "HyperParameters", "ResourceConfig", "StoppingCondition"):
        assert second[kept] == first[kept]
    assert second["Environment"] == {
        "NCCL_DEBUG": "INFO",
        "RELIGHT_RESUME_STEP": "20",
        "RELIGHT_RESUME_FROM": f"{run.place}/step-20",
    }
    assert run.tags("llama-r01") == {
        "relight:cluster": "jobs",
        "relight:incident": incident.id,
        "relight:previous-job": "llama",
        "team": "research",
    }


def test_a_successor_that_fails_has_a_successor_of_its_own(jobs: World) -> None:
    run = fails(jobs, "twice")
    goes_on(run, "twice-r01")
    run.fail(ECC, "twice-r01")
    incident = goes_on(run, "twice-r02", incidents=2)
    assert incident.job is not None
    assert (incident.job.id, incident.facts["chosen_step"]) == ("twice-r01", 30)
    assert run.jobs() == ["twice", "twice-r01", "twice-r02"]
    tags = run.tags("twice-r02")
    assert (tags["relight:previous-job"], tags["relight:incident"]) == ("twice-r01", incident.id)
    assert run.job("twice-r02")["Environment"]["RELIGHT_RESUME_STEP"] == "30"
    assert run.job("twice-r02")["CheckpointConfig"]["S3Uri"] == run.place


def test_the_same_failure_told_three_times_is_one_successor(jobs: World) -> None:
    run = fails(jobs, "told")
    run.fail(INTERNAL)  # EventBridge may tell a change more than once
    goes_on(run, "told-r01")
    run.fail(INTERNAL)  # and late
    mark = fails(jobs, "told-after")  # what comes behind it on the same way: once it is dealt with, so was the repeat
    goes_on(mark, "told-after-r01")
    assert run.jobs() == ["told", "told-r01"]
    assert len(run.incidents()) == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_executor_dies_around_the_start_of_the_successor(jobs: World, when: Literal["before", "after"]) -> None:
    jobs.aws.kill_caller_next("sagemaker", "CreateTrainingJob", when, principal=jobs.role_of("Sagemaker"))
    run = fails(jobs, f"dies-{when}")
    incident = goes_on(run, f"{run.name}-r01")
    assert jobs.aws.pending_faults() == []
    assert run.jobs() == [run.name, f"{run.name}-r01"]
    assert incident.facts["resumed_job"] == f"{run.name}-r01"


def test_the_answer_to_the_start_of_the_successor_is_lost(jobs: World) -> None:
    jobs.aws.drop_answer("sagemaker", "CreateTrainingJob", principal=jobs.role_of("Sagemaker"))
    run = fails(jobs, "answer-lost")
    goes_on(run, "answer-lost-r01")
    assert jobs.aws.pending_faults() == []
    assert run.jobs() == ["answer-lost", "answer-lost-r01"]


def test_sagemaker_repairs_in_vain_and_then_it_is_ours(jobs: World) -> None:
    run = jobs.run("repaired-in-vain")
    run.start()
    run.save(10, 20)
    jobs.sees(79, run.name)
    jobs.aws.set_training_job(run.name, "InProgress", secondary="Starting", reason=REPAIRING)
    run.wait_at("settled")
    run.fail(INTERNAL)  # two incidents of one job: the fault on its instance, and its end
    run.wait_started("repaired-in-vain-r01")
    run.wait_at("resumed")
    run.train_on("repaired-in-vain-r01")
    incidents = run.wait_closed(2)
    assert {each.status for each in incidents} == {"closed"}, [each.reason for each in incidents]
    assert run.jobs() == ["repaired-in-vain", "repaired-in-vain-r01"]
    assert run.job("repaired-in-vain-r01")["Environment"]["RELIGHT_RESUME_STEP"] == "20"
