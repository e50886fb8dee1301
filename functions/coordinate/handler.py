"""Wires coordinate to DynamoDB, Step Functions and the dead letters of its queue."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3

from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.adapters.executions import StepFunctionsExecutions
from functions.adapters.facts import DynamoFacts
from functions.adapters.seen import DynamoSeen
from functions.adapters.sizes import SeenSizes
from functions.adapters.sqs_dead_letters import SqsDeadLetters
from functions.adapters.switches import DynamoSwitches
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.adapters.topology import DynamoTopology
from functions.clients import bounded
from functions.coordinate.coordinate import Coordinator
from functions.coordinate.parallel import WORKERS
from functions.coordinate.settings import Settings
from functions.place_book import PlaceBook

# The function has ten seconds.
_CLIENT = bounded(connect_seconds=1, read_seconds=2, max_pool_connections=WORKERS)
TELEMETRY = PowertoolsTelemetry()


def _now() -> datetime:
    return datetime.now(UTC)


@cache
def wired() -> Coordinator:
    """Return coordinate with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    return Coordinator(
        store=DynamoDBCoordinationStore(
            dynamodb,
            fleet_table=settings.fleet_table,
            incidents_table=settings.incidents_table,
        ),
        executions=StepFunctionsExecutions(
            boto3.client("stepfunctions", config=_CLIENT), state_machine_arn=settings.state_machine_arn
        ),
        sizes=SeenSizes(
            DynamoSeen(dynamodb, settings.fleet_table, _now),
            PlaceBook(DynamoTopology(dynamodb, settings.fleet_table)),
            _now,
        ),
        switches=DynamoSwitches(dynamodb, settings.policies_table),
        facts=DynamoFacts(dynamodb, settings.fleet_table),
        dead_letters=SqsDeadLetters(boto3.client("sqs", config=_CLIENT), settings.decisions_dlq_url),
        telemetry=TELEMETRY,
        rules=settings.rules,
        clock=_now,
        pool=ThreadPoolExecutor(WORKERS),
    )


def handle(event: dict[str, Any], context: object) -> dict[str, list[dict[str, str]]]:
    """Take a batch from the decisions queue; answer which records come back."""
    with TELEMETRY.flushed():
        return wired().take(event["Records"])
