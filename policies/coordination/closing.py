"""A person closes an incident: whatever it held is let go, and it takes no further step.

It must not undo anything in the world: what was stopped or cordoned is seen to by that person.
"""

from datetime import datetime

from policies.contract.decisions import CloseMessage
from policies.contract.errors import BadInputError
from policies.coordination.endings import happen, let_all_go, outcome_of
from policies.coordination.happenings import Closed
from policies.coordination.incident import Incident
from policies.coordination.working import Working

BY_A_PERSON = "closed_by_person"  # an incident's outcome, whatever it had done: nobody knows whether that helped
_OF_BEFORE = frozenset({"recovered", "replaced"})  # what one that a person closed was called before


def take_close(work: Working, message: CloseMessage, now: datetime) -> None:
    """Close the incident that *message* names; one that is closed stays as it is. BadInputError when there is none."""
    incident = work.incidents.get(message.incident)
    if incident is None:
        raise BadInputError(
            f"there is no incident {message.incident} in cluster {message.cluster}.", hint="Check id and cluster."
        )
    if not incident.status.is_open:
        work.retold[incident.id] = incident
        return
    let_all_go(work, incident, outcome_of(incident), now)  # the lease says what became of the instance, as ever
    happen(work, incident, Closed(BY_A_PERSON, f"by {message.by}: {message.reason}"), now)


def closed_by(incident: Incident) -> str:
    """Return who closed *incident* by hand, by the line that was written of that; empty: nobody did."""
    if incident.outcome not in {BY_A_PERSON, *_OF_BEFORE}:
        return ""
    said = next((entry.detail for entry in incident.timeline if entry.stage == "closed"), "")
    told = said.removeprefix(f"{incident.outcome}: ")
    return told.removeprefix("by ").partition(": ")[0] if told.startswith("by ") else ""
