"""A person answers a policy that asks first: coordinate is told, and waited for until it has taken the answer.

It must not print.
"""

from dataclasses import dataclass

from console.incident.parts import IncidentError, Parts
from console.incident.telling import DOES_NO_HARM, WAIT_SECONDS, tell
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
    message = ApproveMessage(
        cluster=incident.cluster,
        incident=incident.id,
        by=answering.by.strip(),
        reason=answering.reason.strip(),
        approved=answering.approved,
    )
    late = IncidentError(
        f"coordinate has not taken the answer on {incident.id} after {answering.wait_seconds:g} s.", hint=DOES_NO_HARM
    )
    return tell(
        parts,
        message,
        lambda found: not waits_for_approval(found) or _refused(found, incident),
        wait_seconds=answering.wait_seconds,
        otherwise=late,
    )


def _refused(found: Incident, before: Incident) -> bool:
    """Whether coordinate said since *before* that the approval counts no more, or had said the very same already."""
    return found.timeline[-1].stage == "not_approved" and (
        found.version > before.version or before.timeline[-1].stage == "not_approved"
    )
