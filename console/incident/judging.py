"""A person says what an incident was: coordinate is told, and waited for until it has taken the word.

Nothing is written to a table from here. It must not print.
"""

from dataclasses import dataclass
from datetime import timedelta

from console.incident.closing import LOOK_SECONDS, WAIT_SECONDS
from console.incident.parts import IncidentError, Parts
from policies.contract.restraints import VerdictMessage, VerdictWord
from policies.coordination.incident import Incident
from policies.coordination.judgements import judged


@dataclass(frozen=True)
class Judging:
    """What is said, by whom and why; ``policy`` is whose miss it is. How long coordinate is waited for."""

    verdict: VerdictWord
    by: str
    why: str = ""
    policy: str = ""
    wait_seconds: float = WAIT_SECONDS


def judge(parts: Parts, incident: Incident, judging: Judging) -> Incident:
    """Return *incident* once coordinate took the word; IncidentError when it has not in time."""
    now = parts.clock()
    message = VerdictMessage(
        cluster=incident.cluster,
        incident=incident.id,
        verdict=judging.verdict,
        policy=judging.policy.strip(),
        by=judging.by.strip(),
        reason=judging.why.strip(),
        at=now,
    )
    parts.closings.send(message, now)
    deadline = now + timedelta(seconds=judging.wait_seconds)
    while True:
        found = parts.incidents.load(incident.id)
        if found and judged(found.judgements, message) == found.judgements:
            return found
        if parts.clock() >= deadline:
            raise IncidentError(
                f"coordinate has not taken the verdict on {incident.id} after {judging.wait_seconds:g} s.",
                hint="It waits, or died: `relight dlq show decisions-dlq` tells. Saying it again does no harm.",
            )
        parts.pause(LOOK_SECONDS)
