"""Wires the SageMaker executor to SageMaker, S3 and DynamoDB."""

import os
from functools import cache
from typing import Any

import boto3

from functions.acts.act import Act
from functions.acts.executor import Executor
from functions.acts.wiring import executor_of
from functions.adapters.s3_objects import S3Objects
from functions.adapters.sagemaker_jobs import SageMakerJobs
from functions.checkpoints.confirm import ConfirmResume
from functions.clients import bounded
from functions.sagemaker.confirm import ConfirmTrainingJob
from functions.sagemaker.resume import ResumeTrainingJob
from functions.sagemaker.settings import Settings
from functions.sagemaker.suspend import Grace, SuspendTrainingJob
from policies.contract.rungs import Rung

_CLIENT = bounded()


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    jobs = SageMakerJobs(boto3.client("sagemaker", config=_CLIENT))
    written = ConfirmResume(objects=S3Objects(boto3.client("s3", config=_CLIENT)), pace=settings.pace)
    grace = Grace(scale=settings.time_scale)
    acts: dict[Rung, Act] = {
        Rung.SUSPEND_JOB: SuspendTrainingJob(jobs=jobs, pace=settings.pace, grace=grace),
        Rung.RESUME_JOB: ResumeTrainingJob(jobs=jobs, pace=settings.pace),
        Rung.CONFIRM_RESUME: ConfirmTrainingJob(jobs=jobs, written=written),
    }
    return executor_of(acts, settings, dynamodb)


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
