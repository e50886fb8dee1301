"""Training jobs that run, stop when they are told to, and fail when the fleet says so.

moto's jobs are Completed when they are made, cannot be stopped, may be made twice under one name, and forget some of
what they were made with. Here a job is InProgress until StopTrainingJob (Stopping, then Stopped) or until its status is
set; EventBridge hears of each change.
"""

from typing import Any

from moto.core.responses import EmptyResult
from moto.core.utils import utcnow
from moto.sagemaker.exceptions import AWSValidationException, ResourceInUseException
from moto.sagemaker.models import SageMakerModelBackend, sagemaker_backends
from moto.sagemaker.responses import SageMakerResponse

from local.aws import backends
from local.aws.clock import Clock
from local.aws.delays import Delays
from local.aws.events.bus import Emit
from local.aws.patches.replacing import replace

_TERMINAL = frozenset({"Completed", "Failed", "Stopped"})
_MAX_NAME = 63
# From Stopping to Stopped: "up to 120 seconds" are given to the container (StopTrainingJob).
_STOP_SECONDS = 30.0
# Parameters of CreateTrainingJob that DescribeTrainingJob tells and moto drops, under the names of its own fields.
_FORGOTTEN = {
    "Environment": "environment",
    "RetryStrategy": "retry_strategy",
    "InfraCheckConfig": "infra_check_config",
    "RemoteDebugConfig": "remote_debug_config",
}


class TrainingJobs:
    """The status of training jobs."""

    def __init__(self, *, emit: Emit, delays: Delays, clock: Clock, region: str) -> None:
        self._emit = emit
        self._delays = delays
        self._clock = clock
        self._region = region

    def apply(self) -> None:
        create = SageMakerModelBackend.create_training_job

        def create_training_job(backend: Any, training_job_name: str, **more: Any) -> Any:
            if training_job_name in backend.training_jobs:
                raise ResourceInUseException("Training job already exists.")
            if len(training_job_name) > _MAX_NAME:
                raise AWSValidationException(f"a training job's name has at most {_MAX_NAME} letters")
            job: Any = create(backend, training_job_name, **more)
            job.training_end_time = None
            job.secondary_status_transitions = []
            self._enter(job, "InProgress", "Training", "")
            return job

        replace(SageMakerModelBackend, "create_training_job", create_training_job)

        answer_create = SageMakerResponse.create_training_job

        def create_and_remember(handler: Any) -> Any:
            answer = answer_create(handler)
            job: Any = handler.sagemaker_backend.training_jobs[handler._get_param("TrainingJobName")]
            for parameter, field in _FORGOTTEN.items():
                if handler._get_param(parameter) is not None:
                    setattr(job, field, handler._get_param(parameter))
            return answer

        replace(SageMakerResponse, "create_training_job", create_and_remember)

        def stop_training_job(handler: Any) -> Any:
            self._stop(handler.sagemaker_backend, handler._get_param("TrainingJobName"))
            return EmptyResult()

        response: Any = SageMakerResponse
        response.stop_training_job = stop_training_job

    def set_status(self, name: str, status: str, *, secondary: str | None = None, reason: str = "") -> None:
        """Put a job into a status, as its platform would.

        Raises:
            KeyError: there is no such job.
        """
        job = sagemaker_backends[backends.ACCOUNT][self._region].training_jobs[name]
        self._enter(job, status, secondary or status, reason)

    def _stop(self, backend: Any, name: str) -> None:
        job = backend.training_jobs.get(name)
        if job is None:
            raise AWSValidationException("Requested resource not found.")
        if job.training_job_status != "InProgress":
            raise AWSValidationException(
                f"The request was rejected because the training job is in status {job.training_job_status}."
            )
        self._enter(job, "Stopping", "Stopping", "")
        self._delays.call_later(self._clock.real_seconds(_STOP_SECONDS), lambda: self._finish_stop(job))

    def _finish_stop(self, job: Any) -> None:
        if job.training_job_status == "Stopping":
            self._enter(job, "Stopped", "Stopped", "")

    def _enter(self, job: Any, status: str, secondary: str, reason: str) -> None:
        now = utcnow()
        if job.secondary_status_transitions:
            job.secondary_status_transitions[-1]["EndTime"] = now
        job.secondary_status_transitions.append({"Status": secondary, "StartTime": now, "StatusMessage": reason})
        job.training_job_status, job.secondary_status, job.last_modified_time = status, secondary, now
        if reason and status == "Failed":
            job.failure_reason = reason
        if status in _TERMINAL:
            job.training_end_time = now
        self._emit(
            source="aws.sagemaker",
            detail_type="SageMaker Training Job State Change",
            detail=_detail(job),
            resources=[job.arn],
        )


def _detail(job: Any) -> dict[str, Any]:
    """The event of the SageMaker developer guide, "SageMaker training job state change"; a reason only if it failed."""
    reason = getattr(job, "failure_reason", None)
    return {
        "TrainingJobName": job.training_job_name,
        "TrainingJobArn": job.arn,
        "TrainingJobStatus": job.training_job_status,
        "SecondaryStatus": job.secondary_status,
        **({"FailureReason": reason} if reason else {}),
        "ResourceConfig": job.resource_config,
        "Tags": {tag["Key"]: tag["Value"] for tag in job.tags},
    }
