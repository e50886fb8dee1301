"""What takes the reason of findings away is remembered with the lease of their node, whichever of the two comes first.

Decides whether all that an incident knows of is over. One that only settles closes as cleared when it asks then; news
that comes later is noted, since what was begun is not undone half-way. It must not read events.
"""

from datetime import datetime

from policies.contract.decisions import FindingsMessage, generation_of
from policies.contract.parts import is_same_part
from policies.contract.restraints import Cancellation
from policies.coordination import leases
from policies.coordination.about_runs import is_of_a_run
from policies.coordination.endings import happen, let_all_go
from policies.coordination.happenings import Closed, Eased
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.notes import FindingNote
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working

CLEARED = "cleared"


def take_cancellations(work: Working, message: FindingsMessage, now: datetime) -> None:
    """Remember what *message* cancels, and note it on an incident that is past its settling."""
    for told in message.cancellations:
        before = work.leases.get(told.generation)
        after = leases.cancel(before or leases.nobodys(message.cluster, told.generation, told.at), told)
        if after == before:
            continue
        work.leases[told.generation] = after
        holder = work.incidents.get(after.incident) if not after.released else None
        if holder and holder.status.is_open and any(_ends(told, note) for note in holder.findings):
            happen(work, holder, Eased(f"{told.policy}: {told.text} at {told.at:%H:%M:%S} UTC"), now)


def places_of(incident: Incident) -> frozenset[str]:
    """Return the leases that remember what took away the reasons of an *incident* that has touched nothing yet."""
    waits = incident.status is IncidentStatus.SETTLING or incident.approve_until is not None
    return frozenset(_place(incident, note) for note in incident.findings) if waits else frozenset()


def why_cleared(work: Working, incident: Incident) -> str:
    """Return what took the reason of all findings of *incident* away, empty when one of them stands.

    Of an incident about a run each node that told of it has to say so.
    """
    endings = [_ending(work.leases.get(_place(incident, note)), note) for note in incident.findings]
    if not endings or not all(endings):
        return ""
    return "; ".join(dict.fromkeys(f"{one.policy}: {one.text}" for one in endings if one))


def clear(work: Working, incident: Incident, why: str, now: datetime) -> Incident:
    """Close an incident that touched nothing and whose reason is gone."""
    let_all_go(work, incident, CLEARED, now)
    return happen(work, incident, Closed(CLEARED, f"{why}; nothing was touched"), now)


def _place(incident: Incident, note: FindingNote) -> str:
    """Return the lease of the node that *note* was seen on; what the incident itself is about may be a run."""
    elsewhere = note.node and (is_of_a_run(incident.generation) or note.node != incident.node.instance_id)
    return generation_of(note.node) if elsewhere else incident.generation


def _ending(lease: Lease | None, note: FindingNote) -> Cancellation | None:
    return next((told for told in lease.cancelled if _ends(told, note)), None) if lease else None


def _ends(told: Cancellation, note: FindingNote) -> bool:
    if told.policy != note.policy or note.last_observed_at > told.at:
        return False
    return not told.component or is_same_part(told.component, note.component, told.also)
