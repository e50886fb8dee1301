"""Wires the checkpoints executor to S3 and DynamoDB."""

import os
from functools import cache
from typing import Any

import boto3

from functions.acts.act import Act
from functions.acts.executor import Executor
from functions.acts.wiring import executor_of
from functions.adapters.s3_objects import S3Objects
from functions.checkpoints.choosing import ChooseCheckpoint, Quiet
from functions.checkpoints.confirm import ConfirmResume
from functions.checkpoints.settings import Settings
from functions.clients import bounded
from policies.contract.rungs import Rung

_CLIENT = bounded(read_seconds=30)  # the function has 120


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    objects = S3Objects(boto3.client("s3", config=_CLIENT))
    acts: dict[Rung, Act] = {
        Rung.CHOOSE_CHECKPOINT: ChooseCheckpoint(objects=objects, pace=settings.pace, quiet=Quiet()),
        Rung.CONFIRM_RESUME: ConfirmResume(objects=objects, pace=settings.pace),
    }
    return executor_of(acts, settings, dynamodb)


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
