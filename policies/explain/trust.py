"""How far the policy of an incident is trusted: its judged acts, and what its `trust` asks for.

Decides nothing of its own: the acts are counted as coordinate counts them, since a person last lifted its shadow. It
must not know where the record is kept.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from policies.coordination.incident import Incident
from policies.coordination.switches import Switches
from policies.precision.record import Record
from policies.precision.verdicts import Precision, precision_of


@dataclass(frozen=True)
class TrustStanding:
    """``found`` of what ``at_least`` asks for once ``of`` acts are judged."""

    found: Precision
    at_least: float
    of: int

    def __str__(self) -> str:
        """Return it for people."""
        found, asked = self.found, f"{self.at_least:.0%} is asked for, once {self.of} are"
        if not found.judged:
            return f"none of its {found.acts} acts is judged; {asked}"
        presumed = f", {found.presumed} of them presumed" if found.presumed else ""
        told = f"{found.faulty} of {found.judged} judged acts were on faulty hardware{presumed}"
        return f"{told}, {found.unknown} are not judged; {asked}"

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        judged = {"judged": self.found.judged, "unknown": self.found.unknown, "precision": self.found.value}
        return {**asdict(self.found), **judged, "at_least": self.at_least, "of": self.of}


def trust_standing(
    incident: Incident, record: Record | None, switches: Switches, now: datetime
) -> TrustStanding | None:
    """Return where the policy of *incident* stands; None when it is not weighed, or has done nothing to hardware."""
    trust = incident.policy.trust
    if trust is None or record is None or not record.acts:
        return None
    return TrustStanding(precision_of(record, now, switches.lifted_at(incident.policy.name)), trust.at_least, trust.of)
