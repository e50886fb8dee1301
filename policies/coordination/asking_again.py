"""What was found while a person's no held, and may never be found again: once the no is over, somebody is asked.

A fault that is told once is recorded for the no, and nobody else asks for it afterwards. Decides whether what is
recorded would still open an incident: the refusal is over and was not taken back by a yes, its evidence counts still,
nothing else holds it back, and nobody had its node or run in hand since it was seen. It is asked once, under an id made
of what was recorded, so that a sweep that comes again finds it; nothing is kept for it. It must not ask: what it opens
parks as any other of its policy does. But by a revision that was edited since nothing is done unasked.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from policies.contract.decisions import AnyMessage, SweepMessage
from policies.contract.identifiers import stable_id
from policies.contract.times import add_seconds
from policies.contract.vocabulary import PolicyMode
from policies.coordination import denials
from policies.coordination.about_runs import has_only_the_run
from policies.coordination.denying import is_recorded_for_a_no, subject_of_note
from policies.coordination.evolve import write_line
from policies.coordination.happenings import Line
from policies.coordination.incident import Incident, incident_id
from policies.coordination.joining import join_recorded
from policies.coordination.leases import Lease
from policies.coordination.opening import open_draft
from policies.coordination.plan import MAYBE_DEAD, Layout, lay_out
from policies.coordination.rules import STALE_SECONDS, Rules
from policies.coordination.snapshot import Keys, Snapshot
from policies.coordination.sparing import why_left_alone
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working
from policies.schedules import permits

LONGEST = timedelta(seconds=max(STALE_SECONDS.values()) + 1)
"""What was changed longer ago than this has no evidence that counts; a listing of what was recorded needs no more."""
_TOLD = "the no to it is over, and nobody has found it again"
_EDITED = f"{_TOLD}; that revision is in force no more, so a person decides"


def behind(snapshot: Snapshot, messages: Collection[AnyMessage]) -> Keys:
    """Return what a sweep has to know of each of those: who has its node or run, and whether somebody was asked."""
    if not any(isinstance(message, SweepMessage) for message in messages):
        return Keys()
    mine = [each for each in snapshot.incidents.values() if is_recorded_for_a_no(each)]
    return Keys(
        incidents=frozenset(id_of(each) for each in mine),
        leases=frozenset(each.generation for each in mine),
        jobs=frozenset(each.job.id for each in mine if each.job),
        histories=frozenset(each.node.instance_id for each in mine),
    )


def id_of(recorded: Incident) -> str:
    """Return the incident that asks for what is *recorded*."""
    return incident_id(recorded.generation, stable_id("asked again", recorded.id))


def ask_again(work: Working, rules: Rules, now: datetime) -> None:
    """Open an incident for each that is recorded for a no and still stands, or have one that settles take it in."""
    mine = (each for each in work.incidents.values() if is_recorded_for_a_no(each))
    for recorded in sorted(mine, key=lambda each: (each.opened_at, each.id)):
        asked, lease = work.incidents.get(id_of(recorded)), work.leases.get(recorded.generation)
        if asked or lease is None or not _is_over(lease, recorded, now):
            continue
        layout = _lay_out(recorded, rules)
        if not layout.acts or not _counts(recorded, now) or _is_held(work, recorded, now):
            continue
        edited = work.switches.is_edited(recorded.policy.name, recorded.policy.revision)
        told = _as_a_question(recorded) if edited else recorded
        holder = None if lease.released else work.incidents.get(lease.incident)
        if holder and (holder.policy.approval or not edited):
            work.incidents[holder.id] = join_recorded(holder, told, rules, now)
        elif not holder and _is_free(lease, recorded):
            open_draft(work, _draft(told, layout, rules, now), now, because=_EDITED if edited else _TOLD)


def _as_a_question(recorded: Incident) -> Incident:
    """Return what is *recorded* as of a policy that asks: whoever edited it may want something else."""
    return recorded.model_copy(update={"policy": recorded.policy.model_copy(update={"approval": True})})


def _is_over(lease: Lease, recorded: Incident, now: datetime) -> bool:
    """Whether what is *recorded* was refused, and is no more; a yes that was said since has forgotten the refusal."""
    subject = subject_of_note(recorded, recorded.findings[0])
    refused = any(subject in each.subjects for each in lease.refusals)
    return refused and denials.holding(lease.refusals, subject, now) is None


def _counts(recorded: Incident, now: datetime) -> bool:
    """Whether its evidence still justifies an act."""
    note = recorded.findings[0]
    age = (now - note.last_observed_at).total_seconds()
    return not note.late and age <= STALE_SECONDS[recorded.policy.evidence]


def _is_held(work: Working, recorded: Incident, now: datetime) -> bool:
    policy = recorded.policy
    switched = policy.mode is not PolicyMode.ACTIVE or work.switches.why_not(policy.name)
    in_hand = why_left_alone(work.snapshot, recorded.node.instance_id, recorded.generation, now)
    return bool(switched or in_hand or _is_of_a_stopped_run(work, recorded)) or not permits(policy.schedule, now)


def _is_of_a_stopped_run(work: Working, recorded: Incident) -> bool:
    """Whether it is about a run alone that others have stopped, for a node say, or let go since the fault was seen.

    Who finds it anew has it joined to those (`about_runs.who_has_the_run`).
    """
    if recorded.job is None or not has_only_the_run(recorded):
        return False
    job, seen = work.job(recorded.job.id), recorded.findings[0].last_observed_at
    let_go_since = job.resumed_at is not None and seen <= job.resumed_at
    return let_go_since or bool(job.holds or job.resumer)


def _is_free(lease: Lease, recorded: Incident) -> bool:
    """Whether nobody has node or run in hand, or had since the fault was seen: then it is history, or seen to.

    Its own lease may be there already, of a worker that died before it had written the incident.
    """
    seen_since = lease.released_at is None or recorded.findings[0].last_observed_at > lease.released_at
    return lease.incident == id_of(recorded) or (lease.released and seen_since)


def _lay_out(recorded: Incident, rules: Rules) -> Layout:
    return lay_out(
        recorded.policy.do,
        orchestrator=rules.orchestrator_of(recorded.cluster, recorded.job),
        has_job=recorded.job is not None,
        maybe_dead=any(note.kind in MAYBE_DEAD for note in recorded.findings),
    )


def _draft(recorded: Incident, layout: Layout, rules: Rules, now: datetime) -> Incident:
    settle_until = add_seconds(now, rules.real(recorded.policy.settle_seconds))
    draft = Incident(
        id=id_of(recorded),
        cluster=recorded.cluster,
        generation=recorded.generation,
        node=recorded.node,
        job=recorded.job,
        policy=recorded.policy,
        status=IncidentStatus.SETTLING,
        rungs=layout.rungs,
        findings=recorded.findings[:1],
        messages=recorded.messages,
        opened_at=now,
        settle_until=settle_until,
        deadline=add_seconds(settle_until, recorded.policy.deadline_seconds),
        updated_at=now,
    )
    for entry in recorded.timeline:
        if entry.stage in {"seen", "queued"}:
            draft = write_line(draft, Line(entry.stage, entry.at, entry.detail))
    return draft
