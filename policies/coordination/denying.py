"""A person's no counts for a while: for what was asked, and for nothing else.

Decides to what of an incident a person said no: to what the policies that asked had seen when that person looked. It is
kept with the lease of node or run, since that is read with each finding and outlives the incident. Another policy or
revision, another part, kind of fault, hardware or run is another question. It must not write timelines or end
incidents.
"""

from collections.abc import Iterator
from datetime import datetime

from policies.contract.decisions import Finding
from policies.contract.restraints import ApproveMessage
from policies.contract.vocabulary import RECORDED
from policies.coordination import denials, leases
from policies.coordination.denials import Denial, Refusal
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.notes import FindingNote
from policies.coordination.ranking import deciding
from policies.coordination.subjects import about_finding, about_note, digest
from policies.coordination.working import Working

DENIED = "denied"  # an incident's outcome; and, of one that is recorded for it, the fact that names the denied one


def is_recorded_for_a_no(incident: Incident) -> bool:
    """Whether *incident* only says what was found while a no held."""
    return incident.outcome == RECORDED and DENIED in incident.facts and bool(incident.findings)


def asking(incident: Incident) -> frozenset[str]:
    """Return the policies whose question *incident* is: all that decide what it does."""
    plans = deciding(incident.plans) if incident.plans else (incident.policy,)
    return frozenset(plan.name for plan in plans)


def words_with(incident: Incident, message: ApproveMessage, now: datetime) -> tuple[Denial, ...]:
    """Return what persons said no to of *incident* with *message*; the same when it was said before."""
    asked = next((each.at for each in reversed(incident.timeline) if each.stage == "parked"), incident.opened_at)
    return denials.with_word(incident.denials, denials.denial_of(message, asked, now))


def refuse(work: Working, incident: Incident, seen: int | None, now: datetime) -> None:
    """Keep with its lease what the denials of *incident*, at whose version *seen* they were given, come to."""
    lease = work.leases.get(incident.generation) or leases.nobodys(incident.cluster, incident.generation, now)
    known = next((each.subjects for each in lease.refusals if each.incident == incident.id), None)
    subjects = known or tuple(sorted(set(_asked(incident, seen))))
    told = Refusal(incident=incident.id, subjects=subjects, denial=denials.standing(incident.denials))
    refusals = denials.refuse(lease.refusals, told)
    work.leases[incident.generation] = lease.model_copy(update={"refusals": refusals})


def allow(work: Working, incident: Incident) -> None:
    """Forget what was refused of what *incident* asked for: a person said yes to it since."""
    lease = work.leases.get(incident.generation)
    if lease and lease.refusals:
        refusals = denials.forget(lease.refusals, _asked(incident, None))
        work.leases[incident.generation] = lease.model_copy(update={"refusals": refusals})


def refusal_of(work: Working, finding: Finding, now: datetime) -> Refusal | None:
    """Return the no to *finding* that holds now."""
    lease = work.leases.get(finding.generation)
    return denials.holding(lease.refusals, subject_of_finding(finding), now) if lease and lease.refusals else None


def standing_of(lease: Lease | None, incident: Incident, now: datetime) -> str:
    """Return who wants nothing done for what *incident* has seen, by the *lease* of its generation; empty: nobody."""
    if lease is None or not lease.refusals:
        return ""
    subjects = (subject_of_note(incident, note) for note in incident.findings)
    found = (denials.holding(lease.refusals, each, now) for each in subjects)
    return "; ".join(dict.fromkeys(denials.told(each.denial) for each in found if each))


def why_all_denied(work: Working, incident: Incident, now: datetime) -> str:
    """Return why an *incident* that touched nothing may not go on: all that its policies saw was refused meanwhile."""
    lease = work.leases.get(incident.generation)
    if lease is None or not lease.refusals or incident.approved_by:
        return ""
    found = [denials.holding(lease.refusals, each, now) for each in _asked(incident, None)]
    return denials.told(found[0].denial) if found and found[0] and all(found) else ""


def of_before(work: Working, incident: Incident) -> str:
    """Return who said no to the like of *incident* before, empty when nobody did."""
    lease = work.leases.get(incident.generation)
    if lease is None or not lease.refusals:
        return ""
    found = denials.last_of(lease.refusals, (subject_of_note(incident, note) for note in incident.findings))
    return denials.told_of_before(found) if found else ""


def is_unasked(lease: Lease, finding: Finding) -> bool:
    """Whether *lease* was let go for a no that *finding*, which was seen before it and comes behind, is not about.

    A node's death may come so, and is told once. Of a no of before refusals were kept nobody knows what it was about.
    """
    mine = [each for each in lease.refusals if each.incident == lease.incident]
    return lease.outcome == DENIED and bool(mine) and subject_of_finding(finding) not in mine[0].subjects


def _asked(incident: Incident, seen: int | None) -> Iterator[str]:
    """Yield the subjects of what the policies that decide had seen of *incident* when it had the version *seen*."""
    later = [each for each in incident.timeline if each.stage == "joined" and _is_later(each.version, seen)]
    known = incident.findings[: max(len(incident.findings) - len(later), 1)]
    yield from (subject_of_note(incident, note) for note in known if note.policy in asking(incident) and not note.late)


def _is_later(version: int, seen: int | None) -> bool:
    return seen is not None and (version == 0 or version > seen)  # 0: it is of this very decision


def subject_of_note(incident: Incident, note: FindingNote) -> str:
    """Return what a no to *note* is about, beside the lease of *incident*."""
    return digest(note.policy, note.revision, *about_note(note, incident))


def subject_of_finding(finding: Finding) -> str:
    """Return the same of a *finding* under its own generation."""
    return digest(finding.policy.name, finding.policy.revision, *about_finding(finding, finding.generation))
