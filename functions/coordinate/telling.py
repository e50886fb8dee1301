"""What coordinate tells its operators in figures and remarks, from what it decided.

It must not tell people what happened to an incident: the outbox does.
"""

import traceback
from collections.abc import Iterable
from datetime import datetime, timedelta

from functions.ports.triage import Telemetry
from policies.contract.decisions import AnyMessage, FindingsMessage, SweepMessage
from policies.contract.errors import RelightError
from policies.coordination.snapshot import Decision, Snapshot
from policies.coordination.states import IncidentStatus

TAKEN = "MessagesTaken"
FAILED = "MessagesFailed"
REFUSED = "MessagesRefused"
CONFLICTS = "DecisionsRepeated"
OPENED = "IncidentsOpened"
PARKED = "IncidentsParked"
CLOSED = "IncidentsClosed"
RESTARTED = "ExecutionsRestarted"
SHADOWED = "PoliciesPutInShadow"
DECIDED_AFTER = "SecondsFromQueuedToDecided"
OLDEST = "OldestIncident"
OVERDUE = "LongestOverdue"


def explained(error: Exception) -> str:
    """Return what is known of *error*: our own says it all, another one is a defect and says where."""
    if isinstance(error, RelightError):
        return str(error)
    return "".join(traceback.format_exception(error))[-2000:]


def in_short(error: Exception) -> str:
    """Return one line on *error*; of a defect also where it is, since the log may be gone when somebody looks."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, RelightError) or not frames:
        return str(error)
    return f"{error} ({frames[-1].filename}:{frames[-1].lineno})"


def tell_decision(telemetry: Telemetry, decision: Decision, messages: Iterable[AnyMessage], now: datetime) -> None:
    """Count what became of incidents, and measure how long findings waited."""
    telemetry.count(SHADOWED, len(decision.shadows))
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
                telemetry.measure_seconds(DECIDED_AFTER, _seconds(now - finding.queued_at))


def tell_ages(telemetry: Telemetry, snapshot: Snapshot, messages: Iterable[AnyMessage], now: datetime) -> None:
    """Measure, as a sweep found it, for how long the oldest incident has been running and one has been overdue.

    The sweep parks what is overdue: a figure that stays above a minute or two means that it does not get to it.
    """
    if not any(isinstance(message, SweepMessage) for message in messages):
        return
    running = [each for each in snapshot.incidents.values() if each.status.is_running]
    telemetry.measure_seconds(OLDEST, max((_seconds(now - each.opened_at) for each in running), default=0.0))
    telemetry.measure_seconds(OVERDUE, max((_seconds(now - each.deadline) for each in running), default=0.0))


def _seconds(span: timedelta) -> float:
    return max(span.total_seconds(), 0.0)
