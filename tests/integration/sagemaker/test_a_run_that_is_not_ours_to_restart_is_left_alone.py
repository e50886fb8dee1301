"""SageMaker's own repair, the program's own errors and people go first."""

from infra.settings import read
from local.aws.iam import check, roles_of
from tests.integration.sagemaker.world import REPAIRING, SETTINGS, World

PROGRAM = 'AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage "ValueError: loss is nan", exit code: 1'


def stops(jobs: World) -> list[str]:
    role = jobs.role_of("Sagemaker")
    return [call.action for call in jobs.aws.recorded_calls() if call.principal == role and "Stop" in call.action]


def test_a_cluster_that_sagemaker_repairs_is_left_to_sagemaker(jobs: World) -> None:
    run = jobs.run("repaired")
    run.start()
    run.save(10, 20)
    jobs.aws.set_training_job(run.name, "InProgress", secondary="Starting", reason=REPAIRING)
    jobs.sees(79, run.name)
    (incident,) = run.wait_at("settled")
    jobs.wait(lambda: waits_for_the_repair(jobs, incident.id), "nobody looked at the job")
    jobs.aws.set_training_job(run.name, "InProgress", secondary="Training", reason="Training in progress")
    (incident,) = run.wait_closed()
    assert incident.facts["stood_aside"] == "SageMaker repaired the training cluster itself"
    assert incident.status == "closed", incident.reason
    assert run.jobs() == ["repaired"]
    assert stops(jobs) == []


def waits_for_the_repair(jobs: World, incident: str) -> bool:
    key = {"pk": {"S": f"INCIDENT#{incident}"}, "sk": {"S": "ACT#suspend_job#1"}}
    found = jobs.aws.client("dynamodb").get_item(TableName=jobs.outputs["IncidentsTable"], Key=key)
    return "SageMaker repairs" in found.get("Item", {}).get("reason", {}).get("S", "")


def test_an_error_of_the_program_is_told_and_nothing_is_restarted(jobs: World) -> None:
    run = jobs.run("nan")
    run.start()
    run.save(10)
    run.fail(PROGRAM)
    (incident,) = run.wait_closed()
    assert (incident.policy.name, incident.outcome) == ("sagemaker-job-failed-by-itself", "recorded")
    jobs.wait(lambda: any("nan" in text for text in jobs.pager.read()), "nobody was told")
    assert run.jobs() == ["nan"]


def test_a_job_that_a_person_stops_is_nobodys_fault(jobs: World) -> None:
    run = jobs.run("stopped")
    run.start()
    run.save(10)
    jobs.aws.client("sagemaker").stop_training_job(TrainingJobName="stopped")
    jobs.wait(lambda: run.job()["TrainingJobStatus"] == "Stopped", "it did not stop")
    mark = jobs.run("stopped-after")
    mark.start()
    mark.fail(PROGRAM)
    mark.wait_closed()
    assert run.incidents() == []
    assert run.jobs() == ["stopped"]


def test_a_job_that_hangs_is_stopped_and_goes_on_as_its_successor(jobs: World) -> None:
    run = jobs.run("hangs")
    run.start()
    run.save(10, 20)
    jobs.sees(79, run.name)  # and SageMaker does nothing about it
    run.wait_started("hangs-r01")
    assert run.job()["TrainingJobStatus"] == "Stopped"
    run.wait_at("resumed")
    run.train_on("hangs-r01")
    (incident,) = run.wait_closed()
    assert incident.facts["resumed_job"] == "hangs-r01"
    assert stops(jobs) != []


def test_a_person_stops_the_job_in_the_middle_of_it(jobs: World) -> None:
    run = jobs.run("taken")
    run.start()
    run.save(10, 20)
    jobs.aws.set_training_job(run.name, "InProgress", secondary="Starting", reason=REPAIRING)
    jobs.sees(79, run.name)
    run.wait_at("settled")
    jobs.aws.client("sagemaker").stop_training_job(TrainingJobName="taken")
    jobs.wait(lambda: {each.status for each in run.incidents()} == {"parked"}, "the incident was not parked")
    assert "was stopped (by somebody else)" in run.incidents()[0].reason
    assert run.jobs() == ["taken"]


def test_every_right_that_the_executor_has_on_training_jobs_was_needed(jobs: World) -> None:
    roles = roles_of(jobs.aws, read(SETTINGS).name)
    unused = check(jobs.aws.recorded_calls(), roles).unused
    mine = [grant for grant in unused if grant.role == jobs.role_of("Sagemaker")]
    assert [str(grant) for grant in mine if grant.action.startswith(("sagemaker:", "iam:"))] == []
