"""A person closes an incident: coordinate is asked, and waited for until it has.

Nothing is written to a table from here. It must not print.
"""

from dataclasses import dataclass
from datetime import timedelta

from console.incident.parts import IncidentError, Parts
from policies.contract.decisions import CloseMessage
from policies.coordination.incident import Incident

LOOK_SECONDS = 0.5
# While a dependency fails, coordinate's message comes back every 30 s for ten minutes: three tries are waited for.
WAIT_SECONDS = 100.0


@dataclass(frozen=True)
class Closing:
    """Who closes, why, and how long the answer is waited for."""

    by: str
    reason: str
    wait_seconds: float = WAIT_SECONDS


def close(parts: Parts, incident: Incident, closing: Closing) -> Incident:
    """Return *incident* once it is closed; IncidentError when coordinate has not done so in time."""
    now = parts.clock()
    message = CloseMessage(
        cluster=incident.cluster, incident=incident.id, by=closing.by.strip(), reason=closing.reason.strip()
    )
    parts.closings.send(message, now)
    deadline = now + timedelta(seconds=closing.wait_seconds)
    while True:
        found = parts.incidents.load(incident.id)
        if found and not found.status.is_open:
            return found
        if parts.clock() >= deadline:
            raise IncidentError(
                f"incident {incident.id} is not closed after {closing.wait_seconds:g} s.",
                hint="The message waits for coordinate, or died: `relight dlq show decisions-dlq` tells. Look again"
                f" with `relight incident show {incident.id[:12]}`; closing again does no harm.",
            )
        parts.pause(LOOK_SECONDS)
