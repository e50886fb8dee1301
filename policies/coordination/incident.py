"""What an incident is: one faulty node generation, from the first finding to the close. One document, the META item.

It must not decide anything (`decide.py` does) or know how it is stored.
"""

from typing import Any, Literal

from policies.contract.base import Model
from policies.contract.decisions import Answer, Finding, PolicyPlan
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef, Scalar
from policies.contract.rungs import Executor, Rung
from policies.contract.times import Moment
from policies.contract.vocabulary import Kind, Severity, Source
from policies.coordination.states import IncidentStatus

Stage = Literal[
    "seen",
    "queued",
    "decided",
    "isolated",
    "evidence_kept",
    "job_suspended",
    "node_fenced",
    "instance_replaced",
    "node_verified",
    "checkpoint_chosen",
    "resumed",
    "confirmed",
    "closed",
    "joined",  # one more finding of the same node, or a late one
    "restarted",  # a new attempt took over from an execution that ended
    "escalated",  # a rung failed, the ladder went to its next action
    "parked",
    "noted",
]


class PlannedRung(Model):
    """One rung of the plan and who carries it out; a page has no executor."""

    rung: Rung
    executor: Executor | None = None


class FindingNote(Model):
    """What an incident keeps of a finding: enough for a person and for the evidence, not its whole plan."""

    id: str
    policy: str
    revision: int
    kind: Kind
    severity: Severity
    source: Source
    component: str = ""
    count: int = 1
    first_observed_at: Moment
    observed_at: Moment
    late: bool = False
    attributes: dict[str, Scalar] = {}

    @classmethod
    def of(cls, finding: Finding) -> "FindingNote":
        """Return the note of *finding*."""
        return cls(
            id=finding.id,
            policy=finding.policy.name,
            revision=finding.policy.revision,
            kind=finding.kind,
            severity=finding.severity,
            source=finding.source,
            component=finding.component.key if finding.component else "",
            count=finding.count,
            first_observed_at=finding.first_observed_at,
            observed_at=finding.observed_at,
            late=finding.late,
            attributes=finding.attributes,
        )


class Execution(Model):
    """The run of handle-incident that works on this incident, as far as it is recorded."""

    attempt: int
    arn: str
    recorded_at: Moment


class Ask(Model):
    """The last ask and what it was told: the same ask again, with whatever token, gets the same answer."""

    attempt: int
    step: int
    answer: Answer
    token: str = ""


class Incident(Model):
    """The META document. ``version`` grows by one at each change; ``position`` points into ``rungs``.

    ``turn`` is 0 while the policy's ``do`` is under way and 1 once its ``otherwise`` is. ``fence`` is the one of the
    lease. ``facts`` gathers the outcomes of the reports. ``deadline`` is for the whole incident.
    """

    id: str
    cluster: str
    generation: str
    node: NodeIdentity
    job: JobRef | None = None
    policy: PolicyPlan
    status: IncidentStatus
    rungs: tuple[PlannedRung, ...]
    position: int = 0
    turn: int = 0
    attempt: int = 1
    fence: int = 0
    execution: Execution | None = None
    ask: Ask | None = None
    facts: dict[str, Any] = {}
    findings: tuple[FindingNote, ...] = ()
    findings_total: int = 0
    messages: tuple[str, ...] = ()
    opened_at: Moment
    settle_until: Moment
    deadline: Moment
    updated_at: Moment
    version: int = 1
    reason: str = ""  # why it parked or closed, for people
    outcome: str = ""  # recovered | replaced | recorded | … once closed

    @property
    def current(self) -> PlannedRung | None:
        """The rung to carry out next, None past the last one."""
        return self.rungs[self.position] if self.position < len(self.rungs) else None


class Lease(Model):
    """Who may act on one node generation. ``fence`` grows by one at each acquire. ``outcome`` says how it was left."""

    cluster: str
    generation: str
    incident: str
    fence: int
    expires_at: Moment
    released: bool = False
    outcome: str = ""
    released_at: Moment | None = None
