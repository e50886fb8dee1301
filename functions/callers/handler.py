"""Lambda `callers`: wiring only. Triggered by the queue of calls that wrote policies."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

import boto3

from functions.adapters.notices import DynamoNotices
from functions.adapters.policy_calls import DynamoCalls
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.callers.callers import Callers
from functions.callers.settings import Settings
from functions.clients import bounded

_CLIENT = bounded()
TELEMETRY = PowertoolsTelemetry()


@cache
def wire() -> Callers:
    """Build it once a worker."""
    settings = Settings.from_environment(os.environ)
    client = boto3.client("dynamodb", config=_CLIENT)
    return Callers(
        calls=DynamoCalls(client, settings.policies_table),
        notices=DynamoNotices(client, settings.incidents_table),
        telemetry=TELEMETRY,
        own=frozenset(settings.own_roles),
    )


def handle(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Note the calls in the messages; answer which messages nobody can read."""
    with TELEMETRY.flushed():
        failed = wire().take(event["Records"])
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
