"""What nobody acts on and is decided again and again is one incident, which counts how often and until when.

Decides which recorded incident a recorded decision is one more of: of the same revision of the same policy, for the
same reason, about the same fault of the same part and run of what it has its lease on, and soon enough after the last.
Leases name these incidents beside who may act, which they never touch: only what nobody may act on is looked up here,
so that nothing which may act is ever taken for a repeat. It must not decide whether anybody may act.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from policies.contract.decisions import Finding
from policies.coordination import leases
from policies.coordination.about_runs import generation_of_run
from policies.coordination.incident import MOST_MESSAGES, Incident
from policies.coordination.leases import Lease, Told
from policies.coordination.notes import Counted
from policies.coordination.snapshot import Keys, Snapshot
from policies.coordination.storms import STORM, is_of_a_scope
from policies.coordination.subjects import about_finding, digest
from policies.coordination.whys import Why
from policies.coordination.working import Working

# The report on policies in shadow takes what is found with less between for one case, and the back-test for the same
# matter (policies/shadow/cases.py, simulator/deeds.py): what they would tell apart stays apart.
GAP = timedelta(minutes=30)
LONGEST = timedelta(days=1)  # each day's list of incidents and each week's report have what still goes on
# Who is woken is woken again while it goes on (Prometheus Alertmanager, repeat_interval: 4h unless told otherwise).
LONGEST_PAGED = timedelta(hours=4)
# Half an hour of one a minute: SQS brings a message again within its twenty tries of 30 s (infra/lanes.py), and a shard
# that is blocked a node's records in their order. What is older than all of these, a dead letter that a person sends
# again after hours perhaps, is taken for counted.
MOST_COUNTED = 32
TOLD_AGAIN = GAP / 3  # so long an incident may be counted without a word of it to a lease that has little room


def behind(snapshot: Snapshot, findings: Iterable[Finding]) -> Keys:
    """Return the recorded incidents that *findings* may be one more of; nearly always none."""
    if not any(lease.told for lease in snapshot.leases.values()):
        return Keys()
    places = ((each, name) for each in findings for name in _generations(each))
    told = (one for each, name in places for one in _told(snapshot.leases.get(name), each, name))
    return Keys(incidents=frozenset(one.incident for one in (*told, *_of_scopes(snapshot))))


def last_told(lease: Lease) -> str:
    """Return the incident in which a scope's storm was told of last, empty when it was in none."""
    return lease.told[-1].incident if lease.told and is_of_a_scope(lease.generation) else ""


def has_counted(work: Working, finding: Finding) -> Incident | None:
    """Return the incident that has counted this very *finding*: by its id, or as it is older than all it knows by name.

    The latter of the same revision in the same mode alone: of another one nothing was held back.
    """
    for one in _mine(work, finding):
        incident = work.incidents.get(one.incident)
        if incident and (_knows(incident, finding) or _has_forgotten(incident, finding)):
            return incident
    return None


def _knows(incident: Incident, finding: Finding) -> bool:
    return any(counted.id == finding.id for counted in incident.counted)


def _has_forgotten(incident: Incident, finding: Finding) -> bool:
    is_its = (finding.policy.revision, finding.policy.mode) == (incident.policy.revision, incident.policy.mode)
    since = incident.findings[0].observed_at
    return is_its and since <= finding.observed_at and _is_older(incident, Counted(finding.observed_at, finding.id))


def _is_older(incident: Incident, one: Counted) -> bool:
    """Whether *incident* has counted more than it knows by name, and *one* is older than all of these."""
    known = incident.counted
    return bool(known) and incident.findings[0].times > len(known) and one < known[0]


def one_more_of(work: Working, finding: Finding, why: Why) -> Incident | None:
    """Return the incident that *finding*, on which nobody acts for that reason, is one more of; None: of none.

    All that comes while a person's no holds is one incident, told once.
    """
    sort = _sort(finding, why)
    mine = (work.incidents.get(one.incident) for one in _mine(work, finding) if one.sort == sort)
    return next((each for each in mine if each and (why.refusal or _goes_on(each, finding))), None)


def remember(work: Working, finding: Finding, why: Why, incident: Incident, now: datetime) -> None:
    """Note with the lease of *finding*'s generation that *incident* tells of it."""
    generation = finding.generation
    lease = work.leases.get(generation) or leases.nobodys(incident.cluster, generation, now)
    told = Told(_subject(finding, generation), _sort(finding, why), incident.id, now)
    work.leases[generation] = leases.tell(lease, told, over=GAP + TOLD_AGAIN)


def remember_still(work: Working, finding: Finding, incident: Incident, now: datetime) -> None:
    """Note there that *incident* goes on, if there is so little room that one that does not has to go."""
    lease = work.leases.get(finding.generation)
    if lease is not None:
        work.leases[finding.generation] = leases.tell_again(lease, incident.id, now, TOLD_AGAIN)


def count(incident: Incident, finding: Finding, now: datetime) -> Incident:
    """Return *incident* with *finding* counted; the same when it has counted it before.

    What is older than all it remembers by name is taken for counted: again it must change nothing.
    """
    note = incident.findings[0]
    known = incident.counted or (Counted(note.observed_at, note.id),)
    one = Counted(finding.observed_at, finding.id)
    if one in known or _is_older(incident, one):
        return incident
    counted = note.model_copy(
        update={
            "times": note.times + 1,
            "first_observed_at": min(note.first_observed_at, finding.first_observed_at),
            "observed_at": min(note.observed_at, finding.observed_at),
            "until": max(note.last_observed_at, finding.observed_at),
        }
    )
    return incident.model_copy(
        update={
            "findings": (counted, *incident.findings[1:]),
            "counted": tuple(sorted((*known, one))[-MOST_COUNTED:]),
            "messages": tuple(dict.fromkeys((*incident.messages, *finding.messages)))[:MOST_MESSAGES],
            "updated_at": max(incident.updated_at, now),
        }
    )


def _goes_on(incident: Incident, finding: Finding) -> bool:
    """Whether *finding* is near enough to what *incident* has counted; it may have come out of its order."""
    note, seen = incident.findings[0], finding.observed_at
    gap = STORM if is_of_a_scope(incident.generation) else GAP
    longest = LONGEST_PAGED if any(line.alert == "page" for line in incident.timeline) else LONGEST
    until = note.last_observed_at
    is_near = note.observed_at - seen <= gap and seen - until <= gap  # a moment may be the last that there is
    return is_near and max(until, seen) - min(note.observed_at, seen) <= longest


def _mine(work: Working, finding: Finding) -> Iterator[Told]:
    return _told(work.leases.get(finding.generation), finding, finding.generation)


def _told(lease: Lease | None, finding: Finding, generation: str) -> Iterator[Told]:
    """Yield what *lease* tells of the same fault of the same part, the latest first."""
    if lease is None or not lease.told:
        return
    subject = _subject(finding, generation)
    yield from (one for one in reversed(lease.told) if one.subject == subject)


def _of_scopes(snapshot: Snapshot) -> Iterator[Told]:
    return (each.told[-1] for each in snapshot.leases.values() if last_told(each))


def _generations(finding: Finding) -> tuple[str, ...]:
    return (finding.generation, generation_of_run(finding.job)) if finding.job else (finding.generation,)


def _subject(finding: Finding, generation: str) -> str:
    """Return what it is about, beside the lease's own generation: a scope's lease is of one policy alone."""
    return "" if is_of_a_scope(generation) else digest(finding.policy.name, *about_finding(finding, generation))


def _sort(finding: Finding, why: Why) -> str:
    """Return what was decided: by which revision, in which mode, why nobody acts, and whether it was old news."""
    late = finding.late and why.refusal is None
    return digest(finding.policy.revision, finding.policy.mode, why.text, late)
