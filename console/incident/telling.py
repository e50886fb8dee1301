"""A person's word on an incident goes to coordinate, and is waited for until it has been taken.

Nothing is written to a table from here. It must not know what the word is, or print.
"""

from collections.abc import Callable
from datetime import timedelta

from console.incident.parts import IncidentError, Parts
from policies.contract.decisions import CloseMessage
from policies.contract.restraints import ApproveMessage, VerdictMessage
from policies.coordination.incident import Incident

LOOK_SECONDS = 0.5
# While a dependency fails, coordinate's message comes back every 30 s for ten minutes: three tries are waited for.
WAIT_SECONDS = 100.0
DOES_NO_HARM = "It waits, or died: `relight dlq show decisions-dlq` tells. Saying it again does no harm."


def tell(
    parts: Parts,
    message: CloseMessage | ApproveMessage | VerdictMessage,
    taken: Callable[[Incident], bool],
    *,
    wait_seconds: float,
    otherwise: IncidentError,
) -> Incident:
    """Send *message* and return its incident once it is *taken*; raise *otherwise* when that is not so in time."""
    now = parts.clock()
    parts.closings.send(message, now)
    deadline = now + timedelta(seconds=wait_seconds)
    while True:
        found = parts.incidents.load(message.incident)
        if found and taken(found):
            return found
        if parts.clock() >= deadline:
            raise otherwise
        parts.pause(LOOK_SECONDS)
