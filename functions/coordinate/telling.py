"""What coordinate tells its operators in figures and remarks, from what it decided.

It must not tell people what happened to an incident: the outbox does.
"""

import traceback
from collections.abc import Iterable
from datetime import datetime

from functions.ports.triage import Telemetry
from policies.contract.decisions import AnyMessage, FindingsMessage
from policies.contract.errors import RelightError
from policies.coordination.snapshot import Decision
from policies.coordination.states import IncidentStatus

TAKEN = "MessagesTaken"
FAILED = "MessagesFailed"
CONFLICTS = "DecisionsRepeated"
OPENED = "IncidentsOpened"
PARKED = "IncidentsParked"
CLOSED = "IncidentsClosed"
RESTARTED = "ExecutionsRestarted"
DECIDED_AFTER = "SecondsFromQueuedToDecided"


def explained(error: Exception) -> str:
    """Return what is known of *error*: our own says it all, another one is a defect and says where."""
    if isinstance(error, RelightError):
        return str(error)
    return "".join(traceback.format_exception(error))[-2000:]


def tell_decision(telemetry: Telemetry, decision: Decision, messages: Iterable[AnyMessage], now: datetime) -> None:
    """Count what became of incidents, and measure how long findings waited."""
    for change in decision.incidents:
        before, after = change.before, change.after
        if before is None and after.status is not IncidentStatus.CLOSED:
            telemetry.count(OPENED)
        if (before.status if before else None) is not after.status:
            telemetry.count(PARKED, int(after.status is IncidentStatus.PARKED))
            telemetry.count(CLOSED, int(after.status is IncidentStatus.CLOSED and before is not None))
        if before and after.attempt > before.attempt:
            telemetry.count(RESTARTED)
    for message in messages:
        if isinstance(message, FindingsMessage):
            for finding in message.findings:
                telemetry.measure_seconds(DECIDED_AFTER, max((now - finding.queued_at).total_seconds(), 0.0))
