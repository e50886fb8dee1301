"""A person closes an incident: coordinate is asked, and waited for until it has. It must not print."""

from dataclasses import dataclass

from console.incident.parts import IncidentError, Parts
from console.incident.telling import WAIT_SECONDS, tell
from policies.contract.decisions import CloseMessage
from policies.coordination.incident import Incident


@dataclass(frozen=True)
class Closing:
    """Who closes, why, and how long the answer is waited for."""

    by: str
    reason: str
    wait_seconds: float = WAIT_SECONDS


def close(parts: Parts, incident: Incident, closing: Closing) -> Incident:
    """Return *incident* once it is closed; IncidentError when coordinate has not done so in time."""
    message = CloseMessage(
        cluster=incident.cluster, incident=incident.id, by=closing.by.strip(), reason=closing.reason.strip()
    )
    late = IncidentError(
        f"incident {incident.id} is not closed after {closing.wait_seconds:g} s.",
        hint="The message waits for coordinate, or died: `relight dlq show decisions-dlq` tells. Look again"
        f" with `relight incident show {incident.id[:12]}`; closing again does no harm.",
    )
    return tell(
        parts, message, lambda found: not found.status.is_open, wait_seconds=closing.wait_seconds, otherwise=late
    )
