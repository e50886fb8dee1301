"""The small values an incident is made of: its planned rungs, what it keeps of findings, the entries of its timeline.

It must not know an incident's status.
"""

from datetime import datetime
from typing import Literal, NamedTuple

from policies.contract.base import Model
from policies.contract.decisions import Answer, Finding
from policies.contract.events import Scalar, brief_attributes
from policies.contract.rungs import Executor, Rung
from policies.contract.times import Moment
from policies.contract.vocabulary import Kind, Severity, Source

MOST_ATTRIBUTES = 24  # an agent names a dozen; there are 31 other notes in one item

Alert = Literal["none", "notify", "page"]
Stage = Literal[
    "seen",
    "queued",
    "decided",
    "isolated",
    "evidence_kept",
    "node_fenced",
    "job_suspended",
    "instance_replaced",
    "node_verified",
    "process_restarted",
    "service_restarted",
    "gpu_reset",
    "node_released",
    "checkpoint_chosen",
    "resumed",
    "confirmed",
    "closed",
    "done",  # a rung that has no stage of its own
    "settled",  # nothing has spoken against it: budgets and holds are taken, acts begin
    "joined",  # one more finding of the same node, or a late one
    "skipped",  # a rung failed that is not worth stopping for
    "faltered",  # an executor broke in the middle of a rung
    "escalated",  # a rung failed, the ladder went on
    "set_aside",  # the run did not go on from the chosen checkpoint: the one before it is tried
    "stood_aside",  # somebody else stops or resumes the run: left to them
    "resuming",  # it was the last that needed the job stopped
    "restarted",  # a new attempt took over from an execution that ended
    "eased",  # the reason of a finding is gone
    "parked",
    "approved",  # a person let a policy act that asks first
    "not_approved",  # a person did, and it counts no more; of a denied one: for how long a person did not
    "judged",  # a person says how the hardware was, or whose miss it is
    "distrusted",  # what is known of it put its policy in shadow
]

STAGE_OF: dict[Rung, Stage] = {
    Rung.ISOLATE: "isolated",
    Rung.COLLECT_EVIDENCE: "evidence_kept",
    Rung.FENCE_NODE: "node_fenced",
    Rung.SUSPEND_JOB: "job_suspended",
    Rung.REPLACE_NODE: "instance_replaced",
    Rung.VERIFY_NODE: "node_verified",
    Rung.RESTART_PROCESS: "process_restarted",
    Rung.RESTART_SERVICE: "service_restarted",
    Rung.RESET_GPU: "gpu_reset",
    Rung.RELEASE_NODE: "node_released",
    Rung.CHOOSE_CHECKPOINT: "checkpoint_chosen",
    Rung.RESUME_JOB: "resumed",
    Rung.CONFIRM_RESUME: "confirmed",
}


class PlannedRung(Model):
    """One rung of the plan and who carries it out; a page has no executor."""

    rung: Rung
    executor: Executor | None = None


class Counted(NamedTuple):
    """One finding that was counted, by which a repeat of it is known. A list in the item, as `leases.Told` is."""

    at: Moment
    id: str


class FindingNote(Model):
    """What an incident keeps of a finding: enough for a person and for the evidence, not its whole plan.

    What nobody acts on may be found again and again: it was seen ``times`` times, from ``observed_at`` ``until`` then.
    """

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
    facts: dict[str, Scalar] = {}
    node: str = ""  # the instance that it was seen on
    job: str | None = None  # the run that it was about, empty: none; notes of before do not tell
    times: int = 1
    until: Moment | None = None  # None: seen once

    @property
    def last_observed_at(self) -> datetime:
        """When it was seen last."""
        return self.until or self.observed_at

    @property
    def subject(self) -> tuple[str, ...]:
        """What it is of: notes with the same say the same once more."""
        return self.policy, self.kind, self.component, self.node

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
            attributes=brief_attributes(finding.attributes, MOST_ATTRIBUTES),
            facts=brief_attributes(finding.facts, MOST_ATTRIBUTES),
            node=finding.node.instance_id,
            job=finding.job.id if finding.job else "",
        )


class Failure(Model):
    """A rung that failed, and after how many that were ``done``."""

    rung: Rung
    at: Moment
    behind: int


class Entry(Model):
    """One line of the timeline. ``number`` counts from 1; ``version`` is the META's that brought it.

    ``alert`` says whether people are told: ``notify`` informs, ``page`` wakes somebody.
    """

    number: int
    version: int
    stage: Stage
    at: Moment
    detail: str = ""
    alert: Alert = "none"


class Ask(Model):
    """The last ask and what it was told: the same ask again, with whatever token, gets the same answer."""

    attempt: int
    step: int
    answer: Answer
    token: str = ""
