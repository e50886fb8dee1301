"""Lambda `guard`: wiring only. Triggered by the stream of the policies table."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import boto3

from functions.adapters.notices import DynamoNotices
from functions.adapters.policies import DynamoPolicies
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.clients import bounded
from functions.guard.changes import handle_changes
from functions.guard.guard import Guard
from functions.guard.settings import Settings

_CLIENT = bounded()
TELEMETRY = PowertoolsTelemetry()


@cache
def wire() -> Guard:
    """Build the guard once a worker."""
    settings = Settings.from_environment(os.environ)
    client = boto3.client("dynamodb", config=_CLIENT)
    return Guard(
        store=DynamoPolicies(client, settings.policies_table),
        notices=DynamoNotices(client, settings.incidents_table),
        telemetry=TELEMETRY,
        clock=partial(datetime.now, UTC),
    )


def handle(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Look at what was edited; answer where the stream must begin again."""
    with TELEMETRY.flushed():
        failed = handle_changes(event, wire().look_at)
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
