"""What travels between triage, coordinate, handle-incident and its executors.

Findings go from triage to coordinate, asks from handle-incident to coordinate, answers and reports back. It must not
know queues or tables.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from policies.contract.base import Model
from policies.contract.envelope import NodeIdentity, explain
from policies.contract.errors import BadInputError
from policies.contract.events import Component, JobRef, Scalar
from policies.contract.identifiers import stable_id
from policies.contract.restraints import ApproveMessage, Cancellation, Hours, Pace, Trust, VerdictMessage
from policies.contract.rungs import Executor, Rung, RungStatus
from policies.contract.times import Moment, WaitSeconds
from policies.contract.vocabulary import Action, EvidenceRule, Kind, PolicyMode, Severity, Source


class Limit(Model):
    """At most ``at_most`` acts (or ``percent`` of the scope, never less than 1) within so many seconds, per scope."""

    at_most: int | None = None
    percent: float | None = None
    within_seconds: float
    per: Literal["cluster", "job", "rack", "policy"] = "cluster"


class PolicyPlan(Model):
    """What one revision of a policy asks for; a finding carries it, so that an incident keeps its revision."""

    name: str
    revision: int
    mode: PolicyMode
    why: str = ""
    do: tuple[Action, ...]
    otherwise: tuple[Action, ...] = ()
    evidence: EvidenceRule = EvidenceRule.TRANSIENT
    settle_seconds: float = 0.0
    deadline_seconds: float = 900.0
    limits: dict[str, Limit] = Field(default_factory=dict)
    priority: int = 0
    approval: bool = False
    approve_within_seconds: float = 3600.0
    acts: Pace | None = None  # those of before it was counted have none
    schedule: Hours | None = None
    trust: Trust | None = None  # those of before it was measured have none


class Finding(Model):
    """A policy's condition came true on one node.

    ``id`` is deterministic over (policy, revision, scope, generation, window start, content), never over the event that
    happened to trigger it. ``late`` marks findings that stand on events too old to justify a destructive act.
    """

    id: str
    node: NodeIdentity
    generation: str  # instance id + hardware epoch, see generation_of
    policy: PolicyPlan
    kind: Kind
    severity: Severity
    source: Source
    component: Component | None = None
    job: JobRef | None = None
    count: int
    window_start: Moment
    first_observed_at: Moment
    observed_at: Moment
    queued_at: Moment  # when the stream accepted the record that completed it
    decided_at: Moment  # when triage decided
    late: bool = False
    event_ids: tuple[str, ...] = ()  # at most 8
    messages: tuple[str, ...] = ()  # at most 8, for people
    attributes: dict[str, Scalar] = Field(default_factory=dict)
    facts: dict[str, Scalar] = Field(default_factory=dict)  # what the policy asked for that no event tells


def generation_of(instance_id: str, hardware_epoch: int = 0) -> str:
    """Return the name of one instance on one piece of hardware: ``i-0abc#0``.

    Stop/start or changed GPU serials bump the epoch.
    """
    return f"{instance_id}#{hardware_epoch}"


class RungReport(Model):
    """What an executor says about one rung. ``outcome`` is merged into the incident's facts when done.

    Well-known outcomes: replace_node {"new_instance"}, choose_checkpoint {"chosen_step", "checkpoint",
    "refused": [{"step", "reason"}]}, resume_job {"resumed_step"}, confirm_resume {"confirmed_step"},
    collect_evidence {"evidence"}, suspend_job {"suspended_at", "checkpoints"}, reset_gpu {"reset_gpus"}.
    """

    rung: Rung
    status: RungStatus
    at: Moment
    wait_seconds: WaitSeconds = 0.0
    reason: str = ""
    outcome: dict[str, Any] = Field(default_factory=dict)


WideScope = Literal["job", "rack", "switch", "cluster"]


class WideRule(Model):
    """One revision of a policy that counts over many nodes, with all that coordinate needs to count for it."""

    plan: PolicyPlan
    hash: str
    per: WideScope
    at_least: int
    within_ms: int
    occurrence_ms: int = 0
    distinct: bool = False
    same: str = ""  # the member that what counts together agrees in


class Contribution(Model):
    """What one event of one node adds to a count that is wider than the node.

    ``id`` is deterministic over (policy, scope, event), so that a repeat is the same, also under a later revision.
    Moments are epoch milliseconds by the stream's clock. ``occurrence`` names what it repeats; that lasts ``since_ms``.
    """

    id: str
    event_id: str
    node: NodeIdentity
    job: JobRef | None = None
    kind: Kind
    severity: Severity
    source: Source
    moment_ms: int
    since_ms: int
    queued_at: Moment
    count: int = 1
    distinct: str = ""
    same: str = ""  # the value of that member
    occurrence: str | None = None
    attributes: dict[str, Scalar] = Field(default_factory=dict)
    message: str = ""


class Contributions(Model):
    """Contributions to one count: of one revision of a policy, in one ``scope`` (``job:train/llm``, ``cluster``)."""

    rule: WideRule
    scope: str
    entries: tuple[Contribution, ...]


class FindingsMessage(Model):
    """What one triage batch has to tell of a cluster: findings, and contributions to counts wider than a node."""

    schema_version: Literal[1] = 1
    type: Literal["findings"] = "findings"
    cluster: str
    findings: tuple[Finding, ...]
    contributions: tuple[Contributions, ...] = ()
    cancellations: tuple[Cancellation, ...] = ()  # of findings of this message and of earlier ones

    @property
    def deduplication_id(self) -> str:
        """Return the same id for the same content."""
        added = (part for group in self.contributions for part in (group.rule.plan.revision, *_ids(group)))
        ended = (part for one in self.cancellations for part in (one.policy, one.generation, one.event_id))
        return stable_id("findings", self.cluster, *(finding.id for finding in self.findings), *added, *ended)


def _ids(group: Contributions) -> tuple[str, ...]:
    return tuple(entry.id for entry in group.entries)


class AskMessage(Model):
    """Handle-incident asks what to do next, with the report of the rung before (none at first).

    ``error`` is what a Catch caught.
    """

    schema_version: Literal[1] = 1
    type: Literal["ask"] = "ask"
    cluster: str
    incident: str
    attempt: int
    step: int  # counts the asks of this attempt; (incident, attempt, step) names the ask
    task_token: str
    report: RungReport | None = None
    error: str = ""

    @property
    def deduplication_id(self) -> str:
        """Return one id an ask; a retry of the same ask has a new token and must get through, so the token counts."""
        return stable_id("ask", self.incident, self.attempt, self.step, self.task_token)


class SweepMessage(Model):
    """The minute's look at every open incident of a cluster."""

    schema_version: Literal[1] = 1
    type: Literal["sweep"] = "sweep"
    cluster: str
    at: Moment

    @property
    def deduplication_id(self) -> str:
        """Return one id a cluster and minute."""
        return stable_id("sweep", self.cluster, self.at.strftime("%Y-%m-%dT%H:%M"))


class CloseMessage(Model):
    """A person has seen to an incident, mostly a parked one: it lets go of its node, its run and its budgets.

    What it left stopped or cordoned is the person's to let go on.
    """

    schema_version: Literal[1] = 1
    type: Literal["close"] = "close"
    cluster: str
    incident: str
    by: str
    reason: str

    @property
    def deduplication_id(self) -> str:
        """Return the same id for the same wish."""
        return stable_id("close", self.incident, self.by, self.reason)


AnyMessage = FindingsMessage | AskMessage | SweepMessage | CloseMessage | ApproveMessage | VerdictMessage
Message = Annotated[AnyMessage, Field(discriminator="type")]
_MESSAGE: TypeAdapter[AnyMessage] = TypeAdapter(Message)


def findings_in(messages: Iterable[AnyMessage]) -> Iterator[Finding]:
    """Yield what *messages* found."""
    return (each for message in messages if isinstance(message, FindingsMessage) for each in message.findings)


def parse_message(body: str | bytes) -> AnyMessage:
    """Return the message in *body*; BadInputError with the reason when there is none."""
    try:
        return _MESSAGE.validate_json(body)
    except ValidationError as error:
        msg = f"not a message for coordinate: {explain(error)}."
        raise BadInputError(msg, hint="It dead-letters; `relight dlq show` prints it.") from None


Verdict = Literal["act", "wait", "merged", "stand_down", "wait_approval", "parked", "closed", "fenced"]


class Answer(Model):
    """Coordinate's answer to an ask: the next rung with its executor and fence, or how the incident ends.

    ``act``: carry out ``rung`` through ``executor`` under ``fence``. ``wait``: ask again after ``wait_seconds``.
    All others end the execution.
    """

    verdict: Verdict
    incident: str
    attempt: int
    step: int  # of the ask to come
    rung: Rung | None = None
    executor: Executor | None = None
    fence: int = 0
    wait_seconds: WaitSeconds = 0.0
    reason: str = ""


class RungRequest(Model):
    """What handle-incident hands an executor: enough to load the incident and to check the fence."""

    cluster: str
    incident: str
    attempt: int
    rung: Rung
    fence: int
    polls: int = 0
