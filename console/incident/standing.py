"""Where an incident stands in the world, as far as its own document tells: what it holds, what it left changed.

It must not ask AWS or Kubernetes: those may have moved on.
"""

from collections.abc import Sequence

from policies.contract.rungs import Rung
from policies.contract.vocabulary import RECORDED
from policies.coordination.closing import closed_by
from policies.coordination.denying import DENIED
from policies.coordination.incident import Incident
from policies.coordination.limits import limits_of
from policies.coordination.plan import STOOD_ASIDE


def is_run_stopped(incident: Incident) -> bool:
    """Whether it stopped its run and has not let it go since."""
    if incident.facts.get(STOOD_ASIDE):
        return False
    moved = [rung for rung in incident.done if rung in {Rung.SUSPEND_JOB, Rung.RESUME_JOB}]
    return bool(moved) and moved[-1] is Rung.SUSPEND_JOB


def is_resume_unproven(incident: Incident) -> bool:
    """Whether its run was let go, and nobody saw it go on."""
    return Rung.RESUME_JOB in incident.done and Rung.CONFIRM_RESUME not in incident.done


def may_be_stopping(incident: Incident) -> bool:
    """Whether it was about to stop its run when it came to a halt."""
    return _is_at(incident, Rung.SUSPEND_JOB) and not is_run_stopped(incident)


def is_given_up(incident: Incident) -> bool:
    """Whether the instance was given up."""
    return bool({Rung.REPLACE_NODE, Rung.FENCE_NODE} & set(incident.done))


def may_be_given_up(incident: Incident) -> bool:
    """Whether it was about to give the instance up when it came to a halt."""
    return _is_at(incident, Rung.REPLACE_NODE) or _is_at(incident, Rung.FENCE_NODE)


def is_isolated(incident: Incident) -> bool:
    """Whether the node was cordoned, was not let go again, and still stands."""
    if {Rung.REPLACE_NODE, Rung.RELEASE_NODE} & set(incident.done[_last(incident, Rung.ISOLATE) :]):
        return False
    return Rung.ISOLATE in incident.done or _is_at(incident, Rung.ISOLATE)


def denied_of(incident: Incident) -> str:
    """Return the id of the incident to which a person said no, of one that is recorded for that no; else empty."""
    found = incident.facts.get(DENIED) if incident.outcome == RECORDED else None
    return found if isinstance(found, str) else ""


def held(incident: Incident) -> Sequence[str]:
    """Return what closing it releases."""
    if not incident.status.is_open:
        return ()
    budgets = [f"its share of the budget {scope}" for scope in limits_of(incident)] if incident.acted else []
    hold = incident.job is not None and incident.needs_job_stopped and incident.acted
    run = [f"its hold on run {incident.job.id}, if it has one"] if incident.job and hold else []
    return [f"the lease of {incident.generation}: new faults of this instance open incidents again", *run, *budgets]


def cordon(incident: Incident) -> Sequence[str]:
    """Return the cordon of its node, if that stands; nothing else."""
    stands = is_isolated(incident) and not is_given_up(incident)
    return [f"the cordon and the taint of node {incident.node.name}"] if stands else []


def left(incident: Incident) -> Sequence[str]:
    """Return what closing it does not undo."""
    node, found = incident.node, list(cordon(incident))
    if incident.job and is_run_stopped(incident):
        found.append(f"run {incident.job.id}, which stays stopped")
    elif incident.job and may_be_stopping(incident):
        found.append(f"run {incident.job.id}, which may be stopped")
    if not is_given_up(incident):
        found.append(f"the instance {node.instance_id}, which {_given_up(incident)}")
    return found


def _given_up(incident: Incident) -> str:
    return "may have been given up" if may_be_given_up(incident) else "was not replaced"


def _last(incident: Incident, rung: Rung) -> int:
    """Return where *rung* was done last, 0 where it was not."""
    return max((at for at, each in enumerate(incident.done) if each is rung), default=0)


def _is_at(incident: Incident, rung: Rung) -> bool:
    """Whether this rung was handed to its executor and did not come back done, so that it may have had its effect.

    What closed by itself left nothing half done.
    """
    if not incident.status.is_open and not closed_by(incident):
        return False
    parked = (entry.detail for entry in reversed(incident.timeline) if entry.stage == "parked")
    why = incident.reason if incident.status.is_open else next(parked, "")  # who closes it says why, not where it stood
    if why.startswith(rung):  # "replace_node failed: …", wherever the ladder went from there
        return True
    handed = incident.ask is not None and incident.ask.answer.rung is rung
    return incident.current is not None and incident.current.rung is rung and (incident.under_way or handed)
