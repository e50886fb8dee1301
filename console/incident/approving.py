"""A person answers a policy that asks first: coordinate is told, and waited for until it has taken the answer.

Nothing is written to a table from here. It must not print.
"""

from dataclasses import dataclass
from datetime import timedelta

from console.incident.closing import LOOK_SECONDS, WAIT_SECONDS
from console.incident.parts import IncidentError, Parts
from policies.contract.restraints import ApproveMessage
from policies.coordination.approving import waits_for_approval
from policies.coordination.incident import Incident


@dataclass(frozen=True)
class Answering:
    """Who answers what and why, and how long coordinate is waited for."""

    approved: bool
    by: str
    reason: str = ""
    wait_seconds: float = WAIT_SECONDS


def answer(parts: Parts, incident: Incident, answering: Answering) -> Incident:
    """Return *incident* once coordinate took the answer, whatever came of it; IncidentError when it has not in time."""
    now = parts.clock()
    message = ApproveMessage(
        cluster=incident.cluster,
        incident=incident.id,
        by=answering.by.strip(),
        reason=answering.reason.strip(),
        approved=answering.approved,
    )
    parts.closings.send(message, now)
    deadline = now + timedelta(seconds=answering.wait_seconds)
    while True:
        found = parts.incidents.load(incident.id)
        if found and (not waits_for_approval(found) or _refused(found, incident)):
            return found
        if parts.clock() >= deadline:
            raise IncidentError(
                f"coordinate has not taken the answer on {incident.id} after {answering.wait_seconds:g} s.",
                hint="It waits, or died: `relight dlq show decisions-dlq` tells. Saying it again does no harm.",
            )
        parts.pause(LOOK_SECONDS)


def _refused(found: Incident, before: Incident) -> bool:
    """Whether coordinate said since *before* that the approval counts no more, or had said the very same already."""
    return found.timeline[-1].stage == "not_approved" and (
        found.version > before.version or before.timeline[-1].stage == "not_approved"
    )
