"""Lambda `report`: wiring only. Invoked by a schedule."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Protocol

import boto3

from functions.adapters.incident_lists import DynamoIncidentLists
from functions.adapters.notices import DynamoNotices
from functions.adapters.policies import DynamoPolicies
from functions.adapters.switches import DynamoSwitches
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.clients import bounded
from functions.report.report import tell_report
from functions.report.settings import Settings

_CLIENT = bounded()
TELEMETRY = PowertoolsTelemetry()


class _Tell(Protocol):
    def __call__(self, *, now: datetime) -> object: ...


@cache
def wired() -> _Tell:
    """Return the report with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    client = boto3.client("dynamodb", config=_CLIENT)
    return partial(
        tell_report,
        settings.clusters,
        incidents=DynamoIncidentLists(client, settings.incidents_table),
        heads=DynamoPolicies(client, settings.policies_table),
        switches=DynamoSwitches(client, settings.policies_table),
        notices=DynamoNotices(client, settings.incidents_table),
        telemetry=TELEMETRY,
    )


def handle(event: Mapping[str, Any], context: object) -> None:
    """Report on the last seven days, whatever the schedule's event says."""
    with TELEMETRY.flushed():
        wired()(now=datetime.now(UTC))
