"""Wires the sweep to SQS and Kinesis."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import boto3

from functions.adapters.kinesis_faults import KinesisFaults
from functions.adapters.sqs_sweeps import SqsSweeps
from functions.clients import bounded
from functions.sweep.settings import Settings
from functions.sweep.sweep import sweep

_CLIENT = bounded()


@cache
def wired() -> Callable[[], None]:
    """Return the sweep with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    return partial(
        sweep,
        clusters=settings.clusters,
        sweeps=SqsSweeps(boto3.client("sqs", config=_CLIENT), settings.decisions_queue_url),
        faults=KinesisFaults(boto3.client("kinesis", config=_CLIENT), settings.faults_stream),
        clock=lambda: datetime.now(UTC),
    )


def handle(event: dict[str, Any], context: object) -> None:
    """Sweep once, whatever the schedule's event says."""
    wired()()
