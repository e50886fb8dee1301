"""Wires the outbox to EventBridge."""

import os
from functools import cache
from typing import Any

import boto3

from functions.adapters.eventbridge_bus import EventBridgeBus
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.clients import bounded
from functions.outbox.outbox import announce
from functions.outbox.settings import Settings

_CLIENT = bounded()
TELEMETRY = PowertoolsTelemetry()


@cache
def wired() -> EventBridgeBus:
    """Return the bus, made once a process."""
    return EventBridgeBus(boto3.client("events", config=_CLIENT), Settings.from_environment(os.environ).bus_name)


def handle(event: dict[str, Any], context: object) -> dict[str, list[dict[str, str]]]:
    """Announce a batch of the incidents table's stream; answer from which record it must come again."""
    with TELEMETRY.flushed():
        again = announce(event["Records"], bus=wired(), telemetry=TELEMETRY)
    return {"batchItemFailures": [{"itemIdentifier": number} for number in again]}
