"""What a policy in shadow found, wherever coordinate kept it: an incident of its own, or a note in that of another.

Decides which findings would have led to an act. It must not judge whether that act would have been right.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.contract.decisions import PolicyPlan
from policies.contract.vocabulary import TOUCHES_NOTHING, Action
from policies.coordination.incident import Incident
from policies.coordination.notes import FindingNote
from policies.moments import later

RUNS = TOUCHES_NOTHING | {Action.SUSPEND_JOB, Action.RESUME_JOB, Action.REQUEUE_JOB}


@dataclass(frozen=True)
class Hit:
    """One finding of the policy of *plan*; ``at`` is when it would have begun to act, its settling behind it."""

    plan: PolicyPlan
    note: FindingNote
    incident: Incident
    at: datetime

    @property
    def last(self) -> datetime:
        """When it was found last: coordinate counts what comes again as one."""
        return self.note.last_observed_at

    @property
    def instance(self) -> str:
        """The instance that it was seen on, or the scope that it was counted over."""
        return self.note.node or self.incident.node.instance_id


def touches(plan: PolicyPlan) -> bool:
    """Whether it would change anything for a node or a run."""
    return bool(set(plan.do) - TOUCHES_NOTHING)


def hits_in(incidents: Iterable[Incident], shadow: Mapping[str, PolicyPlan]) -> Iterator[Hit]:
    """Yield what the policies in *shadow* that would touch anything found in *incidents*.

    Old news is left out: no policy acts on it alone. So is what an incident was opened for that acted under it, before
    the policy was put in shadow.
    """
    for incident in incidents:
        for note in incident.findings:
            plan = shadow.get(note.policy)
            if plan and touches(plan) and not note.late and not _acted_on(incident, note):
                settle = timedelta(seconds=plan.settle_seconds)
                yield Hit(plan, note, incident, later(_began(incident, note), settle))


def _acted_on(incident: Incident, note: FindingNote) -> bool:
    return incident.fence > 0 and note.policy in {each.name for each in (*incident.plans, incident.policy)}


def _began(incident: Incident, note: FindingNote) -> datetime:
    """Return when it was decided: the incident's own finding at its opening, others as soon as they were seen."""
    own = bool(incident.findings) and incident.findings[0].id == note.id
    return incident.opened_at if own else max(note.observed_at, incident.opened_at)
