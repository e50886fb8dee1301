"""Wires the checkpoints executor to S3 and DynamoDB."""

import os
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from functions.acts.executor import Executor
from functions.adapters.acts import DynamoDBActStore, DynamoDBLeaseReader
from functions.adapters.s3_objects import S3Objects
from functions.checkpoints.choosing import ChooseCheckpoint, Quiet
from functions.checkpoints.confirm import ConfirmResume
from functions.checkpoints.settings import Settings
from policies.contract.rungs import Rung

# The function has 120 seconds: a call that hangs must leave time for the next try.
_CLIENT = Config(connect_timeout=2, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 3})


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    objects = S3Objects(boto3.client("s3", config=_CLIENT))
    return Executor(
        acts={
            Rung.CHOOSE_CHECKPOINT: ChooseCheckpoint(objects=objects, pace=settings.pace, quiet=Quiet()),
            Rung.CONFIRM_RESUME: ConfirmResume(objects=objects, pace=settings.pace),
        },
        incidents=DynamoDBActStore(dynamodb, settings.incidents_table),
        leases=DynamoDBLeaseReader(dynamodb, settings.fleet_table),
        clusters=settings.clusters,
        clock=lambda: datetime.now(UTC),
    )


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
