"""What an incident waits for once its run was let go: a step past the chosen one, and a place for the run's pods.

Decides by its own document: what it cordoned, what it brought, what was reported. It must not ask AWS or Kubernetes, so
of the pods it says where to look.
"""

from collections.abc import Iterator

from console.incident.standing import is_given_up, is_isolated
from policies.contract.rungs import Rung
from policies.contract.times import parse_time
from policies.contract.vocabulary import Orchestrator
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus

_LABEL = "training.kubeflow.org/job-name"  # the Kubeflow training operator's, of each pod of a job


def waits_for_a_step(incident: Incident) -> bool:
    """Whether it let its run go and nobody has seen it go on yet."""
    current = incident.current.rung if incident.current else None
    return incident.status is IncidentStatus.RESUMING and current is Rung.CONFIRM_RESUME


def is_short_of_a_node(incident: Incident) -> bool:
    """Whether the run lost a node to its cordon for which it brought none."""
    return is_isolated(incident) and not is_given_up(incident)


def why_it_stands(incident: Incident) -> str:
    """Return why it stands as it does, for the list: its own reason, and what it waits for."""
    waits = "; ".join(waiting(incident)) if waits_for_a_step(incident) else ""
    return "; ".join(filter(None, (incident.reason, waits)))


def waiting(incident: Incident) -> Iterator[str]:
    """Yield what has not come yet, and why it may not."""
    step, since = incident.facts.get("chosen_step"), _clock(incident.facts.get("resumed_at"))
    yield f"no step{'' if step is None else f' past {step}'} was reported yet{since}"
    if is_short_of_a_node(incident):
        yield f"node {incident.node.name} is cordoned by this incident, and nothing brings another"


def where_to_look(incident: Incident) -> str:
    """Return the command that tells whether the pods of its run are placed, empty where there is none."""
    job = incident.job
    if job is None or job.orchestrator is Orchestrator.SAGEMAKER:
        return ""
    namespace, _, name = job.id.rpartition("/")
    return (
        f"See whether all pods of run {job.id} are placed:"
        f" kubectl -n {namespace or 'default'} get pods -o wide -l {_LABEL}={name}"
    )


def _clock(told: object) -> str:
    """Return since when, from the fact that `resume_job` left; empty where that is no moment."""
    try:
        return f" (let go at {parse_time(str(told)):%H:%M:%S} UTC)"
    except ValueError:
        return ""
