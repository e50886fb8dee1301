"""A person answers a policy that asks first: coordinate is told, and waited for until it has taken the answer.

It must not print.
"""

from dataclasses import dataclass
from datetime import datetime

from console.incident.parts import IncidentError, Parts
from console.incident.standing import denied_of
from console.incident.telling import DOES_NO_HARM, WAIT_SECONDS, tell
from policies.contract.restraints import ApproveMessage
from policies.coordination.approving import waits_for_approval
from policies.coordination.denials import knows, standing
from policies.coordination.incident import Incident


@dataclass(frozen=True)
class Answering:
    """Who answers what and why, for how many seconds a no holds (None: as usual), how long coordinate is waited for."""

    approved: bool
    by: str
    reason: str = ""
    wait_seconds: float = WAIT_SECONDS
    for_seconds: float | None = None


def answer(parts: Parts, incident: Incident, answering: Answering) -> Incident:
    """Return *incident* once coordinate took the answer, whatever came of it; IncidentError when it has not in time."""
    message = ApproveMessage(
        cluster=incident.cluster,
        incident=incident.id,
        by=answering.by.strip(),
        reason=answering.reason.strip(),
        approved=answering.approved,
        at=parts.clock(),
        for_seconds=answering.for_seconds,
        seen=incident.version,
    )
    late = IncidentError(
        f"coordinate has not taken the answer on {incident.id} after {answering.wait_seconds:g} s.", hint=DOES_NO_HARM
    )
    return tell(
        parts,
        message,
        lambda found: _is_taken(found, incident, message),
        wait_seconds=answering.wait_seconds,
        otherwise=late,
    )


def asked(parts: Parts, incident: Incident) -> Incident:
    """Return the incident that a no to *incident* is about: what is recorded for a no has nothing to refuse itself."""
    denied = denied_of(incident)
    return (parts.incidents.load(denied) if denied else None) or incident


def is_refused(incident: Incident, now: datetime) -> bool:
    """Whether a no to *incident* holds: the same no again changes nothing then."""
    return bool(incident.denials) and now < standing(incident.denials).until


def _is_taken(found: Incident, before: Incident, message: ApproveMessage) -> bool:
    """Whether coordinate has taken *message*: a no besides that of somebody else, who may have been first.

    A coordinate of before a no had a time keeps none, and only closes what waits.
    """
    if not message.approved and (found.denials or not waits_for_approval(before)):
        return knows(found.denials, message)
    return not waits_for_approval(found) or _refused(found, before)


def _refused(found: Incident, before: Incident) -> bool:
    """Whether coordinate said since *before* that the approval counts no more, or had said the very same already."""
    return found.timeline[-1].stage == "not_approved" and (
        found.version > before.version or before.timeline[-1].stage == "not_approved"
    )
