"""How an incident ends, parks or gets a new attempt, with what that means for its lease, its hold and its budgets.

It must not decide when.
"""

from datetime import datetime

from policies.contract.rungs import Rung
from policies.coordination import budgets, holds, leases
from policies.coordination.evolve import evolve
from policies.coordination.happenings import Closed, Escalated, Happening, Parked, Restarted, SetAside
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.limits import limits_of
from policies.coordination.pacing import forget_act
from policies.coordination.rules import MOST_ATTEMPTS
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working


def happen(work: Working, incident: Incident, happening: Happening, now: datetime) -> Incident:
    """Keep and return *incident* after *happening*."""
    work.incidents[incident.id] = evolve(incident, happening, now)
    return work.incidents[incident.id]


def owns_lease(work: Working, incident: Incident) -> bool:
    """Whether the lease of its node is still this incident's, expired or not."""
    lease = work.leases.get(incident.generation)
    return lease is not None and not lease.released and lease.incident == incident.id


def park(work: Working, incident: Incident, reason: str, now: datetime) -> Incident:
    """Ask a person. The lease stays under a new fence, and so does the hold of who has stopped the run for its node.

    Who touched nothing yet holds nothing; who was to resume leaves that to the next incident of the job.
    """
    lease = work.leases.get(incident.generation)
    if lease and owns_lease(work, incident):
        work.leases[incident.generation] = leases.park(lease, now)
        incident = incident.model_copy(update={"fence": lease.fence + 1})
    if incident.status is IncidentStatus.RESUMING or not incident.acted:
        leave_run(work, incident)
    if not incident.acted:
        _close_budgets(work, incident)
    return happen(work, incident, Parked(reason), now)


def close(work: Working, incident: Incident, reason: str, now: datetime) -> Incident:
    """Release whatever it holds and close it."""
    outcome = outcome_of(incident)
    let_all_go(work, incident, outcome, now)
    return happen(work, incident, Closed(outcome, reason), now)


def merge(work: Working, incident: Incident, others: str, now: datetime) -> Incident:
    """Close an incident that touched nothing: who else stops its run, for a node perhaps, brings it back as well."""
    let_all_go(work, incident, "merged", now)
    return happen(work, incident, Closed("merged", f"the run is stopped for {others} already"), now)


def take_from(work: Working, lease: Lease, incident: Incident, now: datetime) -> Incident:
    """Close a parked *incident* that touched nothing and so holds no more than *lease*: another takes its node over."""
    work.leases[incident.generation] = leases.release(lease, "merged", now)
    return happen(work, incident, Closed("merged", "the node serves no more: another incident takes over"), now)


def let_all_go(work: Working, incident: Incident, outcome: str, now: datetime) -> None:
    """Release its lease with *outcome*, its hold and its budgets."""
    lease = work.leases.get(incident.generation)
    if lease and owns_lease(work, incident):
        work.leases[incident.generation] = leases.release(lease, outcome, now)
    leave_run(work, incident)
    _close_budgets(work, incident)


def leave_run(work: Working, incident: Incident) -> None:
    """Drop its hold on the run, and the resume if that was its own."""
    if incident.job:
        _drop_hold(work, work.job(incident.job.id), incident.id)


def outcome_of(incident: Incident) -> str:
    """Return ``replaced`` when the instance was given up: what comes later from it is history, else ``recovered``."""
    return "replaced" if {Rung.REPLACE_NODE, Rung.FENCE_NODE} & set(incident.done) else "recovered"


def restart(work: Working, incident: Incident, reason: str, now: datetime) -> Incident:
    """Hand over to a new attempt under a new fence, so that whatever still runs of the old one stops."""
    if incident.attempt >= MOST_ATTEMPTS:
        return park(work, incident, f"{MOST_ATTEMPTS} attempts ended early, the last: {reason}", now)
    restarted = happen(work, refence(work, incident), Restarted(reason), now)
    work.start(restarted)
    return restarted


def turn(work: Working, incident: Incident, turned: Escalated | SetAside, now: datetime) -> Incident:
    """Go on with other rungs under a new fence: the same rung there is another act."""
    return happen(work, refence(work, incident), turned, now)


def refence(work: Working, incident: Incident) -> Incident:
    """Take the lease again and return the incident with its new fence."""
    lease = leases.acquire(
        work.leases.get(incident.generation),
        cluster=incident.cluster,
        generation=incident.generation,
        incident=incident.id,
        until=incident.deadline,
    )
    work.leases[incident.generation] = lease
    return incident.model_copy(update={"fence": lease.fence})


def _drop_hold(work: Working, job: Job, incident: str) -> None:
    if incident in job.holds or job.resumer == incident or incident in job.settling:
        work.jobs[job.id] = holds.drop(job, incident)


def _close_budgets(work: Working, incident: Incident) -> None:
    for scope in limits_of(incident):
        work.budgets[scope] = budgets.close(work.budget(scope), incident.id, acted=incident.acted)
    if not incident.acted:
        forget_act(work, incident)
