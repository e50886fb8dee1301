"""How a change reads on the bus: the type that rules match, the detail that programs read, the sentence people read.

``id`` is incident and version: whoever hears it twice can tell. It must not know who listens.
"""

from datetime import datetime
from typing import Any

from functions.outbox.changes import Change, Unreadable
from functions.outbox.plain import plain
from functions.ports.bus import Announcement
from policies.contract.times import format_time
from policies.coordination.notes import Alert, Entry, Stage
from policies.coordination.states import IncidentStatus

_ALERTS: tuple[Alert, ...] = ("none", "notify", "page")  # in rising order


def tell(change: Change) -> Announcement:
    """Return the announcement of *change*."""
    incident = change.incident
    last = change.entries[-1]
    return Announcement(
        id=f"{incident.id}:{incident.version}",
        type=f"Incident {_word(change)}",
        at=incident.updated_at,
        detail={
            "incident": incident.id,
            "version": incident.version,
            "cluster": incident.cluster,
            "node": incident.node.name,
            "instance_id": incident.node.instance_id,
            "job": incident.job.id if incident.job else None,
            "policy": incident.policy.name,
            "revision": incident.policy.revision,
            "mode": incident.policy.mode,
            "status": incident.status,
            "stage": last.stage,
            "stages": [_stage(entry) for entry in change.entries],
            "alert": max((entry.alert for entry in change.entries), key=_ALERTS.index),
            "outcome": incident.outcome,
            "reason": incident.reason,
            "facts": incident.facts,
            "text": _sentence(change),
        },
    )


def tell_unreadable(change: Unreadable, at: datetime) -> Announcement:
    """Return the announcement that an incident changed and that its item could not be read."""
    return Announcement(
        id=f"{change.incident}:{change.version}",
        type="Incident Unreadable",
        at=at,
        detail={
            "incident": change.incident,
            "version": change.version,
            "cluster": "unknown",
            "alert": "page",
            "text": plain(f"its item cannot be read by this version of the outbox ({change.reason}); deploy again"),
        },
    )


def _word(change: Change) -> str:
    """Return ``Opened``, ``Recorded``, ``Parked``, ``Closed``, else the last stage in title case."""
    stages: set[Stage] = {entry.stage for entry in change.entries}
    if change.first:
        return "Opened" if change.incident.status is not IncidentStatus.CLOSED else "Recorded"
    for stage in ("closed", "parked"):
        if stage in stages:
            return stage.capitalize()
    return change.entries[-1].stage.replace("_", " ").title()


def _stage(entry: Entry) -> dict[str, Any]:
    return {"stage": entry.stage, "at": format_time(entry.at), "detail": entry.detail}


def _sentence(change: Change) -> str:
    incident = change.incident
    called = "PAGE: " if any(entry.alert == "page" for entry in change.entries) else ""
    details = "; ".join(dict.fromkeys(entry.detail for entry in change.entries if entry.detail))
    why = f" {incident.policy.why}" if change.first and incident.policy.why else ""
    return plain(f"{called}{incident.node.name} ({incident.node.instance_id}), {incident.policy.name}: {details}.{why}")
