"""What an incident is told to do next, once its reports are merged: settle, a rung, wait for another, or the end.

It must not read messages; it changes leases, holds and budgets only through `endings.py`, `holds.py` and `limits.py`.
"""

from dataclasses import dataclass
from datetime import datetime

from policies.contract.decisions import Verdict
from policies.contract.rungs import ON_HARDWARE, Executor, Rung
from policies.contract.vocabulary import RECORDED
from policies.coordination import holds
from policies.coordination.about_runs import has_only_the_run
from policies.coordination.approving import ask_first
from policies.coordination.blaming import waits_for, why_spared
from policies.coordination.cancelling import CLEARED, clear, why_cleared
from policies.coordination.endings import close, happen, merge, owns_lease, park
from policies.coordination.halting import call_off, why_not, why_stopped
from policies.coordination.happenings import BecameResumer, Settled
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.limits import reserve_all
from policies.coordination.pacing import note_act, put_in_shadow, why_too_many
from policies.coordination.plan import RESUME_RUNGS, STOOD_ASIDE
from policies.coordination.rules import RESUMER_WAIT_SECONDS
from policies.coordination.sparing import as_kept, why_kept
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working

LOOKS_AGAIN_SECONDS = 120.0  # while the run waits for something that may pass


@dataclass(frozen=True)
class Told:
    """An answer before it is addressed. ``wait`` is in real seconds."""

    verdict: Verdict
    reason: str = ""
    rung: Rung | None = None
    executor: Executor | None = None
    wait: float = 0.0


def ended(incident: Incident) -> Told:
    """Return what to tell whoever asks for an incident that is parked or closed."""
    return Told("parked" if incident.status is IncidentStatus.PARKED else "closed", incident.reason)


def proceed(work: Working, incident: Incident, now: datetime) -> Told:
    """Return what comes next for a running *incident*."""
    if not owns_lease(work, incident):
        return ended(_without_lease(work, incident, now))
    halted = why_not(work, incident, now)
    if halted and incident.status is IncidentStatus.SETTLING:
        return ended(call_off(work, incident, halted, now))
    if now >= incident.deadline:
        return ended(park(work, incident, _overdue(incident), now))
    if incident.status is IncidentStatus.SETTLING:
        told = _settle(work, incident, now)
        if told:
            return told
        incident = work.incidents[incident.id]
    return _next_rung(work, incident, now)


def _settle(work: Working, incident: Incident, now: datetime) -> Told | None:
    """Return what ends or delays it, None once its first rung may be carried out."""
    if now < incident.settle_until:
        return Told("wait", "settling", wait=(incident.settle_until - now).total_seconds())
    needless = _needless(work, incident, now)
    if needless:
        return ended(needless)
    found = waits_for(work, incident, now)
    if found:
        left = min((found.until - now).total_seconds(), LOOKS_AGAIN_SECONDS)
        return Told("wait", f"{found.policy}: {found.why}", wait=left)
    return _wait_for_a_person(work, incident, now)


def _needless(work: Working, incident: Incident, now: datetime) -> Incident | None:
    """Return *incident* closed, if there is nothing for it to do (or nothing more)."""
    over = why_cleared(work, incident)
    if over and not incident.approved_by:
        return clear(work, incident, over, now)
    others = _who_stops_the_run(work, incident)
    if others:
        return merge(work, incident, others, now)
    too_many = why_too_many(work, incident, now)
    if too_many:
        put_in_shadow(work, incident, too_many, now)
        return call_off(work, incident, why_not(work, incident, now), now)
    return None


def _wait_for_a_person(work: Working, incident: Incident, now: datetime) -> Told | None:
    """Return why a person decides, None when its budgets and its hold are taken."""
    spared = why_spared(work, incident, now)
    if spared:
        return ended(_keep_down(work, ask_first(work, incident, now, spared)))
    kept = "" if incident.approved_by else why_kept(work.snapshot, incident, now)
    if kept or (incident.policy.approval and not incident.approved_by):
        return ended(ask_first(work, as_kept(incident, kept), now, kept))
    refused = _why_refused(work, incident, now)
    return ended(park(work, incident, refused, now)) if refused else None


def _keep_down(work: Working, incident: Incident) -> Incident:
    """Have nobody bring the run back, perhaps onto this very node, before a person has looked."""
    if incident.job and incident.needs_job_stopped:
        work.jobs[incident.job.id] = holds.hold(work.job(incident.job.id), incident.id)
    return incident


def _who_stops_the_run(work: Working, incident: Incident) -> str:
    """Return who else has the run of an incident that is about a run alone, empty when nobody has."""
    if not has_only_the_run(incident) or incident.job is None:
        return ""
    job = work.job(incident.job.id)
    resumer = job.resumer if job.resumer != incident.id else None
    return ", ".join(job.others(incident.id)) or resumer or ""


def _without_lease(work: Working, incident: Incident, now: datetime) -> Incident:
    """Finish a close that died half-way; if somebody else has the lease, a person must tell who is right."""
    lease = work.leases.get(incident.generation)
    if lease and lease.incident == incident.id and lease.outcome == RECORDED:
        return call_off(work, incident, why_not(work, incident, now) or "its policy might not act", now)
    if lease and lease.incident == incident.id and lease.outcome == CLEARED:
        return clear(work, incident, why_cleared(work, incident), now)
    if lease and lease.incident == incident.id:
        return close(work, incident, incident.reason, now)
    return park(work, incident, f"the lease of {incident.generation} is somebody else's; look at both incidents", now)


def _overdue(incident: Incident) -> str:
    at = incident.current.rung if incident.current else "the close"
    return f"the deadline of {incident.policy.deadline_seconds:g} s passed at {at}; look at the node and the run"


def _why_refused(work: Working, incident: Incident, now: datetime) -> str:
    """Take budgets and the hold; return why it may not act, empty when it may."""
    refused = reserve_all(work, incident, now)
    if refused:
        return refused
    if incident.job and incident.needs_job_stopped:
        work.jobs[incident.job.id] = holds.hold(work.job(incident.job.id), incident.id)
    note_act(work, incident, now)
    happen(work, incident, Settled(), now)
    return ""


def _next_rung(work: Working, incident: Incident, now: datetime) -> Told:
    planned = incident.current
    if planned is None:
        return ended(_finish(work, incident, now))
    if planned.executor is None:
        why = incident.reason or f"policy {incident.policy.name} asks for a person here"
        return ended(park(work, incident, why, now))
    spared = why_spared(work, incident, now) if planned.rung in ON_HARDWARE and not incident.under_way else ""
    stopped = why_stopped(work, incident, now) or spared
    if stopped:
        return ended(park(work, incident, stopped, now))
    if incident.job and planned.rung in RESUME_RUNGS:
        told = _before_the_resume(work, incident, work.job(incident.job.id), now)
        if told:
            return told
    if incident.job and planned.rung is Rung.SUSPEND_JOB:
        job = holds.hold(work.job(incident.job.id), incident.id)  # a ladder may come to it without the hold
        work.jobs[job.id] = job
        if job.resumer not in {None, incident.id}:
            return Told("wait", f"incident {job.resumer} is resuming the run", wait=RESUMER_WAIT_SECONDS)
    return Told("act", rung=planned.rung, executor=planned.executor)


def _before_the_resume(work: Working, incident: Incident, job: Job, now: datetime) -> Told | None:
    """Return what keeps *incident* from resuming the run now, None when it is its own to resume."""
    soon = _who_settles(work, incident, now)
    if soon:
        return soon
    left = _leave_to_others(work, incident, job, now)
    return ended(left) if left else None


def _who_settles(work: Working, incident: Incident, now: datetime) -> Told | None:
    """Have the resume wait for whoever may need the run stopped in some seconds: it would be stopped again at once."""
    resumed = incident.current is not None and incident.current.rung is Rung.CONFIRM_RESUME
    if resumed or incident.job is None:
        return None
    settling = work.job(incident.job.id).settling.items()
    soon = [(until, each) for each, until in settling if each != incident.id and until > now]
    if not soon:
        return None
    until, other = max(soon)
    return Told("wait", f"incident {other} settles", wait=(until - now).total_seconds())


def _finish(work: Working, incident: Incident, now: datetime) -> Incident:
    """Close; but a run that was stopped and that the policy does not let go on is a person's to resume."""
    if incident.job and incident.facts.get(STOOD_ASIDE):
        return close(work, incident, f"run {incident.job.id} is left alone: {incident.facts[STOOD_ASIDE]}", now)
    if incident.needs_job_stopped and not RESUME_RUNGS & set(incident.done) and incident.job:
        why = f"run {incident.job.id} is stopped and policy {incident.policy.name} does not resume it"
        return park(work, incident, why, now)
    return close(work, incident, "", now)


def _leave_to_others(work: Working, incident: Incident, job: Job, now: datetime) -> Incident | None:
    """Let go of the job's hold; return the incident closed when the resume is not (or no longer) its own."""
    if incident.status is IncidentStatus.ACTING:
        work.jobs[job.id] = holds.release(job, incident.id)
        if work.jobs[job.id].resumer != incident.id:
            others = ", ".join(job.others(incident.id)) or "another incident"
            return close(work, incident, f"the run stays stopped for {others}", now)
        happen(work, incident, BecameResumer(job.resumes), now)
        return None
    if incident.current and incident.current.rung is Rung.CONFIRM_RESUME:
        return _stopped_again(work, incident, job, now) if job.others(incident.id) else None
    claimed = holds.claim(job, incident.id, incident.resumes)
    if claimed is None:
        return _stopped_again(work, incident, job, now)
    work.jobs[job.id] = claimed
    return None


def _stopped_again(work: Working, incident: Incident, job: Job, now: datetime) -> Incident:
    who = ", ".join(job.others(incident.id)) or job.resumer or job.resumed_by or "another incident"
    return close(work, incident, f"the run was stopped again: its resume is with {who}", now)
