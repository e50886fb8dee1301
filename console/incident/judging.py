"""A person says what an incident was: coordinate is told, and waited for until it has taken the word.

It must not print.
"""

from dataclasses import dataclass

from console.incident.parts import IncidentError, Parts
from console.incident.telling import DOES_NO_HARM, WAIT_SECONDS, tell
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
    message = VerdictMessage(
        cluster=incident.cluster,
        incident=incident.id,
        verdict=judging.verdict,
        policy=judging.policy.strip(),
        by=judging.by.strip(),
        reason=judging.why.strip(),
        at=parts.clock(),
    )
    late = IncidentError(
        f"coordinate has not taken the verdict on {incident.id} after {judging.wait_seconds:g} s.", hint=DOES_NO_HARM
    )
    return tell(
        parts,
        message,
        lambda found: judged(found.judgements, message) == found.judgements,
        wait_seconds=judging.wait_seconds,
        otherwise=late,
    )
