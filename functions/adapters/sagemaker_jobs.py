"""Training jobs on SageMaker.

Decides which fields of a described job a new one can be created with. It must not decide when.
"""

from collections.abc import Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError

from functions.adapters.aws import calling, error_code
from functions.ports.training_jobs import NameTakenError, TrainingJob

if TYPE_CHECKING:
    from types_boto3_sagemaker import SageMakerClient
    from types_boto3_sagemaker.type_defs import CreateTrainingJobRequestTypeDef

# What DescribeTrainingJob tells and CreateTrainingJob takes, under the same names.
_CARRIED = (
    "HyperParameters", "AlgorithmSpecification", "RoleArn", "InputDataConfig", "OutputDataConfig", "ResourceConfig",
    "VpcConfig", "StoppingCondition", "EnableNetworkIsolation", "EnableInterContainerTrafficEncryption",
    "EnableManagedSpotTraining", "CheckpointConfig", "DebugHookConfig", "DebugRuleConfigurations",
    "TensorBoardOutputConfig", "ExperimentConfig", "ProfilerConfig", "ProfilerRuleConfigurations", "Environment",
    "RetryStrategy", "RemoteDebugConfig", "InfraCheckConfig",
)  # fmt: skip


class SageMakerJobs:
    """See the port."""

    def __init__(self, client: "SageMakerClient") -> None:
        """Keep the client."""
        self._client = client

    def describe(self, name: str) -> TrainingJob | None:
        """See the port."""
        with calling(f"describing training job {name}"):
            try:
                told = self._client.describe_training_job(TrainingJobName=name)
            except ClientError as error:
                if error_code(error) in {"ValidationException", "ResourceNotFound"}:
                    return None
                raise
            pages = self._client.get_paginator("list_tags").paginate(ResourceArn=told["TrainingJobArn"])
            tags = {tag["Key"]: tag["Value"] for page in pages for tag in page["Tags"]}
        fields: Mapping[str, Any] = told
        transitions = told.get("SecondaryStatusTransitions", [])
        return TrainingJob(
            name=name,
            arn=told["TrainingJobArn"],
            status=told["TrainingJobStatus"],
            secondary_status=told.get("SecondaryStatus", ""),
            status_message=transitions[-1].get("StatusMessage", "") if transitions else "",
            failure_reason=told.get("FailureReason", ""),
            created_at=told["CreationTime"].astimezone(UTC),
            tags=tags,
            request={field: fields[field] for field in _CARRIED if fields.get(field)},
        )

    def stop(self, name: str) -> None:
        """See the port."""
        with calling(f"stopping training job {name}"):
            try:
                self._client.stop_training_job(TrainingJobName=name)
            except ClientError as error:
                # "The request was rejected because the training job is in status Stopped."
                if error_code(error) != "ValidationException":
                    raise

    def create(self, request: Mapping[str, Any]) -> None:
        """See the port."""
        name = str(request["TrainingJobName"])
        with calling(f"creating training job {name}"):
            try:
                self._client.create_training_job(**cast("CreateTrainingJobRequestTypeDef", dict(request)))
            except ClientError as error:
                if error_code(error) == "ResourceInUse":
                    raise NameTakenError(f"a training job {name} exists.") from error
                raise
