"""SageMaker's answers, in its own words (botocore's stubber), and what the twin does where moto knows it too."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from functions.adapters.sagemaker_jobs import SageMakerJobs
from functions.ports.training_jobs import NameTakenError, TrainingJobs
from functions.sagemaker.lineage import successor_request
from functions.twins.training_jobs import MemoryTrainingJobs
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from types_boto3_sagemaker import SageMakerClient

AT = datetime(2026, 3, 1, tzinfo=UTC)
REQUEST: dict[str, Any] = {
    "TrainingJobName": "run",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "RoleArn": "arn:aws:iam::123456789012:role/training-role",
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/output"},
    "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2, "VolumeSizeInGB": 100},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    "CheckpointConfig": {"S3Uri": "s3://bucket/run"},
    "Environment": {"A": "1"},
    "Tags": [{"Key": "team", "Value": "a"}],
}


@pytest.fixture(params=["twin", "sagemaker"])
def jobs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[TrainingJobs]:
    if request.param == "twin":
        yield MemoryTrainingJobs(lambda: AT)
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        yield SageMakerJobs(boto3.client("sagemaker", region_name="us-east-1"))


def test_a_created_job_is_described_with_its_tags_and_its_request(jobs: TrainingJobs) -> None:
    assert jobs.describe("run") is None
    jobs.create(REQUEST)
    job = jobs.describe("run")
    assert job is not None
    assert (job.name, job.tags) == ("run", {"team": "a"})
    for field in ("RoleArn", "ResourceConfig", "CheckpointConfig", "StoppingCondition"):  # moto forgets Environment
        assert job.request[field] == REQUEST[field]


def test_a_successor_is_created_from_what_is_described(jobs: TrainingJobs) -> None:
    jobs.create(REQUEST)
    first = jobs.describe("run")
    assert first is not None
    jobs.create(
        successor_request(
            first, name="run-r01", step=20, checkpoint="s3://bucket/run/step-20", incident="x", cluster="train"
        )
    )
    second = jobs.describe("run-r01")
    assert second is not None
    assert second.request["CheckpointConfig"] == {"S3Uri": "s3://bucket/run"}
    assert second.tags["relight:previous-job"] == "run"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> "SageMakerClient":
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    return boto3.client("sagemaker", region_name="us-east-1")


@pytest.mark.parametrize(
    ("call", "operation", "code", "expected"),
    [
        (lambda jobs: jobs.create(REQUEST), "create_training_job", "ResourceInUse", NameTakenError),
        (lambda jobs: jobs.create(REQUEST), "create_training_job", "ResourceLimitExceeded", DependencyError),
        (lambda jobs: jobs.stop("run"), "stop_training_job", "ValidationException", None),
        (lambda jobs: jobs.stop("run"), "stop_training_job", "ThrottlingException", DependencyError),
        (lambda jobs: jobs.describe("run"), "describe_training_job", "ValidationException", None),
        (lambda jobs: jobs.describe("run"), "describe_training_job", "AccessDeniedException", DependencyError),
    ],
)
def test_sagemakers_refusals_become_ours(
    client: "SageMakerClient",
    call: Callable[[TrainingJobs], object],
    operation: str,
    code: str,
    expected: type[Exception] | None,
) -> None:
    with Stubber(client) as stubber:
        stubber.add_client_error(operation, code)
        if expected is None:
            assert call(SageMakerJobs(client)) is None
        else:
            with pytest.raises(expected):
                call(SageMakerJobs(client))


def test_the_latest_transition_and_the_reason_of_a_failure_are_told(client: "SageMakerClient") -> None:
    arn = "arn:aws:sagemaker:us-east-1:123456789012:training-job/run"
    transitions = [
        {"Status": "Training", "StartTime": AT, "StatusMessage": "Training in progress"},
        {
            "Status": "Restarting",
            "StartTime": AT,
            "StatusMessage": "Repairing training cluster due to hardware failure",
        },
    ]
    told = {
        "TrainingJobName": "run",
        "TrainingJobArn": arn,
        "TrainingJobStatus": "InProgress",
        "SecondaryStatus": "Restarting",
        "SecondaryStatusTransitions": transitions,
        "FailureReason": "InternalServerError",
        "CreationTime": AT,
        "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/model"},
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
        "ResourceConfig": {"VolumeSizeInGB": 1},
        "StoppingCondition": {},
    }
    with Stubber(client) as stubber:
        stubber.add_response("describe_training_job", told, {"TrainingJobName": "run"})
        stubber.add_response("list_tags", {"Tags": []}, {"ResourceArn": arn})
        job = SageMakerJobs(client).describe("run")
    assert job is not None
    assert (job.status, job.secondary_status, job.terminal) == ("InProgress", "Restarting", False)
    assert job.status_message == "Repairing training cluster due to hardware failure"
    assert job.failure_reason == "InternalServerError"
