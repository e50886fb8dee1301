"""Lambda `guard`: wiring only. Triggered by the stream of the policies table, and by the clock for what that missed."""

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
from functions.guard.catching_up import catch_up
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
    """Look at what was edited, and answer where the stream must begin again; by the clock, at what nobody judged."""
    with TELEMETRY.flushed():
        guard = wire()
        if "Records" not in event:
            catch_up(guard.store, guard.look_at, TELEMETRY, guard.clock)
            return {}
        failed = handle_changes(event, guard.look_at, guard.tell_lost)
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
