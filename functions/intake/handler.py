"""Wires intake to Kinesis, the fleet table and EC2."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import boto3

from functions.adapters.kinesis_faults import KinesisFaults
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.adapters.topology import BotoEc2Directory, DynamoTopology
from functions.clients import bounded
from functions.intake.identify import Register
from functions.intake.intake import take_in
from functions.intake.settings import Settings

_CLIENT = bounded()
TELEMETRY = PowertoolsTelemetry()


@cache
def wired() -> Callable[[Sequence[str]], None]:
    """Return intake with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    topology = DynamoTopology(boto3.client("dynamodb", config=_CLIENT), settings.fleet_table)
    return partial(
        take_in,
        register=Register(settings.clusters, topology, BotoEc2Directory(boto3.client("ec2", config=_CLIENT))),
        faults=KinesisFaults(boto3.client("kinesis", config=_CLIENT), settings.faults_stream),
        telemetry=TELEMETRY,
        clock=lambda: datetime.now(UTC),
    )


def handle(event: dict[str, Any], context: object) -> dict[str, list[dict[str, str]]]:
    """Take in a batch of the aws-events queue; an error brings the whole batch back."""
    with TELEMETRY.flushed():
        wired()([record["body"] for record in event["Records"]])
    return {"batchItemFailures": []}
