"""Wires the SageMaker executor to SageMaker, S3 and DynamoDB."""

import os
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from functions.acts.executor import Executor
from functions.adapters.acts import DynamoDBActStore, DynamoDBLeaseReader
from functions.adapters.s3_objects import S3Objects
from functions.adapters.sagemaker_jobs import SageMakerJobs
from functions.checkpoints.confirm import ConfirmResume
from functions.sagemaker.confirm import ConfirmTrainingJob
from functions.sagemaker.resume import ResumeTrainingJob
from functions.sagemaker.settings import Settings
from functions.sagemaker.suspend import Grace, SuspendTrainingJob
from policies.contract.rungs import Rung

# The function has sixty seconds: a call that hangs must leave time for the next try.
_CLIENT = Config(connect_timeout=2, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    jobs = SageMakerJobs(boto3.client("sagemaker", config=_CLIENT))
    written = ConfirmResume(objects=S3Objects(boto3.client("s3", config=_CLIENT)), pace=settings.pace)
    grace = Grace(scale=settings.time_scale)
    return Executor(
        acts={
            Rung.SUSPEND_JOB: SuspendTrainingJob(jobs=jobs, pace=settings.pace, grace=grace),
            Rung.RESUME_JOB: ResumeTrainingJob(jobs=jobs, pace=settings.pace),
            Rung.CONFIRM_RESUME: ConfirmTrainingJob(jobs=jobs, written=written),
        },
        incidents=DynamoDBActStore(dynamodb, settings.incidents_table),
        leases=DynamoDBLeaseReader(dynamodb, settings.fleet_table),
        clusters=settings.clusters,
        clock=lambda: datetime.now(UTC),
    )


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
