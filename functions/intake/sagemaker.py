"""SageMaker about training jobs. It repairs its own cluster first: only a terminal failure is a fact for us.

Several events may come for one change of state (SageMaker developer guide, "Events for SageMaker training jobs"): the
job's ARN and status are the key. Whose fault it is, FailureReason tells with its first word; what follows from that
is for the policies to say.
"""

import re
from typing import Any

from pydantic import Field

from functions.intake.notice import AwsEvent, Notice, TrainingJob
from policies.contract.base import Model
from policies.contract.events import Scalar, cut_message
from policies.contract.vocabulary import Kind, Severity, Source

TAG = "relight:cluster"
# InternalServerError is the one failure that SageMaker itself would try again (API reference, RetryStrategy), and after
# which a new job may fix a transient issue (developer guide, "Retry Policy for Pipeline Steps").
_CAUSES = {
    "InternalServerError": "platform",
    "CapacityError": "capacity",  # "Unable to provision requested ML compute capacity."
    "AlgorithmError": "program",
    "ClientError": "program",
}
# What CUDA and the driver say when the part under the program failed, whoever reports it. A framework's container puts
# the last error into FailureReason: cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable (CUDA runtime API, error
# handling), Xid 79.
_HARDWARE = re.compile(r"uncorrectable (?:ECC|NVLink) error|fallen off the bus", re.IGNORECASE)
_EXIT_CODE = re.compile(r"exit code:? (-?\d{1,3})\b", re.IGNORECASE)


# {"id": "844e2571-85d4-695f-b930-0153b71dcb42", "detail-type": "SageMaker Training Job State Change",
#  "source": "aws.sagemaker", "time": "2018-10-06T12:26:13Z",
#  "resources": ["arn:aws:sagemaker:…:training-job/kmeans-1"],
#  "detail": {"TrainingJobName": "89c96cc8-dded-4739-afcc-6f1dc936701d", "TrainingJobArn": "arn:aws:sagemaker:…",
#             "TrainingJobStatus": "Completed", "SecondaryStatus": "Completed", "HyperParameters": {…}, …,
#             "CreationTime": "1583831889050", "SecondaryStatusTransitions": [], "Tags": {}}}
# FailureReason is there only when it failed: "InternalServerError: We encountered an internal error. Please try again."
class _Change(Model):
    name: str = Field(alias="TrainingJobName")
    arn: str = Field(alias="TrainingJobArn")
    status: str = Field(alias="TrainingJobStatus")
    secondary: str = Field(default="", alias="SecondaryStatus")
    reason: str = Field(default="", alias="FailureReason")
    tags: dict[str, str] | list[dict[str, str]] = Field(default={}, alias="Tags")


def training_job(event: AwsEvent) -> tuple[Notice, ...]:
    """Return a notice of a failed job; other states need nobody."""
    change = _Change.model_validate(event.detail)
    if change.status != "Failed":
        return ()
    message, _ = cut_message(change.reason or f"training job {change.name} failed")
    return (
        Notice(
            key=f"{change.arn}:{change.status}",
            subject=TrainingJob(change.name, _tag(change.tags)),
            kind=Kind.JOB_FAILED,
            severity=Severity.CRITICAL,
            source=Source.SAGEMAKER,
            observed_at=event.time,
            attributes={**_told(change.reason), "secondary_status": change.secondary},
            message=message,
        ),
    )


def _told(reason: str) -> dict[str, Scalar]:
    """Return what a FailureReason tells: failure, its word; cause; exit_code when there is one."""
    failure = reason.partition(":")[0].strip()[:100]
    cause = "hardware" if _HARDWARE.search(reason) else _CAUSES.get(failure, "unknown")
    code = _EXIT_CODE.search(reason)
    return {"failure": failure, "cause": cause, **({"exit_code": int(code[1])} if code else {})}


def _tag(tags: Any) -> str:  # noqa: ANN401 - both shapes have been seen
    """Return the value of our tag, from a map or from a list of Key and Value."""
    if isinstance(tags, dict):
        return str(tags.get(TAG, ""))
    return next((str(tag.get("Value", "")) for tag in tags if tag.get("Key") == TAG), "")
