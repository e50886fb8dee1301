"""An executor for every rung on the embedded AWS: keeps its records through the frame, touches nothing."""

import os
from datetime import UTC, datetime
from typing import Any

import boto3

from functions.acts.act import Act, ActContext
from functions.acts.frame import carry_out
from functions.adapters.acts import DynamoDBActStore, DynamoDBLeaseReader
from functions.settings import read_clusters
from policies.contract.decisions import RungReport, RungRequest
from policies.contract.errors import DependencyError
from policies.contract.rungs import Rung

OUTCOMES: dict[Rung, dict[str, Any]] = {
    Rung.REPLACE_NODE: {"new_instance": "i-new"},
    Rung.CHOOSE_CHECKPOINT: {"chosen_step": 900},
    Rung.RESUME_JOB: {"resumed_step": 900},
    Rung.CONFIRM_RESUME: {"confirmed_step": 901},
}
CALLS = {"count": 0}


class Acting:
    """Waits twice for its successor, breaks once while isolating."""

    def advance(self, context: ActContext) -> RungReport:
        CALLS["count"] += 1
        if context.rung is Rung.ISOLATE and CALLS["count"] == 1:
            raise DependencyError("the API does not answer.", hint="It is tried again.")
        if context.rung is Rung.REPLACE_NODE and context.polls < 2:
            return context.waiting(5, "launching")
        return context.done(**OUTCOMES.get(context.rung, {}))


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry one rung out."""
    client = boto3.client("dynamodb")
    acts: dict[Rung, Act] = {rung: Acting() for rung in Rung}
    report = carry_out(
        RungRequest.model_validate(event),
        acts=acts,
        incidents=DynamoDBActStore(client, os.environ["INCIDENTS_TABLE"]),
        leases=DynamoDBLeaseReader(client, os.environ["FLEET_TABLE"]),
        clusters=read_clusters(os.environ),
        clock=lambda: datetime.now(UTC),
    )
    return report.model_dump(mode="json", exclude_none=True)
