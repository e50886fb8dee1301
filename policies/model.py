"""The policy: what an operator writes, the same document as a YAML file and as a DynamoDB item (DESIGN: vocabulary).

Decides which fields there are and what they may hold. It must not know how the document was stored, nor read `when`
and `unless`: `expressions/` does.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from policies.contract.base import LARGEST_NUMBER, Model
from policies.contract.decisions import Limit, PolicyPlan
from policies.contract.events import Component, JobRef, Scalar
from policies.contract.restraints import Hours, Pace, Trust
from policies.contract.vocabulary import Action, EvidenceRule, Kind, PolicyMode, Severity
from policies.contradictions import contradictions
from policies.durations import parse_duration
from policies.facts.registry import FACTS
from policies.schedules import parse_span, parse_zone

HOUR, DAY = 3600.0, 86_400.0
LONGEST_COUNT_OF_OCCURRENCES = 50


Short = Annotated[str, StringConstraints(max_length=500, strip_whitespace=True)]
_READ = BeforeValidator(parse_duration)  # the bounds behind it are in seconds
Settle = Annotated[float, _READ, Field(ge=0, le=HOUR)]
Occurrence = Annotated[float, _READ, Field(ge=1, le=HOUR)]
Within = Annotated[float, _READ, Field(ge=1, le=DAY)]
Deadline = Annotated[float, _READ, Field(ge=10, le=DAY)]
For = Annotated[float, _READ, Field(ge=10, le=DAY)]
Offset = Annotated[float, _READ, Field(ge=0, le=DAY)]
Flag = Annotated[bool, Field(strict=True)]
ActsWithin = Annotated[float, _READ, Field(ge=60, le=DAY)]
ApproveWithin = Annotated[float, _READ, Field(ge=60, le=DAY)]
MOST_ACTS = 200  # kept for a day in one item


def _is_written(read: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        read(text)
        return text

    return AfterValidator(check)


Week = Annotated[str, _is_written(parse_span)]
Zone = Annotated[str, _is_written(parse_zone)]


class _Document(Model):
    """Unknown fields are refused: a misspelt `unless` must not be silently ignored."""

    model_config = ConfigDict(extra="forbid")


def written_names(document: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields of *document* as an operator writes them."""
    return tuple(described.alias or name for name, described in document.model_fields.items())


class Count(_Document):
    """How often, within what, counted for what.

    With ``occurrence`` the companions of one physical error count once: ``at_least`` counts occurrences. Without it the
    events' own counts add up. ``distinct`` counts the different values of a field instead (``job.id``). ``per`` a job,
    rack, switch or cluster counts over its nodes. Only what agrees in the value of ``same`` counts together.
    """

    at_least: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] = 1
    within: Within = HOUR
    per: Literal["component", "node", "job", "rack", "switch", "cluster"] = "component"
    occurrence: Occurrence | None = None
    distinct: str | None = None
    same: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.occurrence is not None and self.occurrence > self.within:
            raise ValueError("occurrence is longer than within")
        if (self.occurrence or self.distinct) and self.at_least > LONGEST_COUNT_OF_OCCURRENCES:
            raise ValueError(f"at_least is at most {LONGEST_COUNT_OF_OCCURRENCES} where occurrences are counted")
        return self


# Without `count` every occurrence is a finding. Companions of one error are printed within seconds: Xid 48 comes with
# 63 or 64 and 94 or 95 (NVIDIA, "Xid Errors", memory error containment).
ONE_OCCURRENCE = Count.model_validate({"at_least": 1, "within": "30s", "occurrence": "30s"})


class LimitRule(_Document):
    """How many acts of one sort are allowed: ``at_most`` of them, or ``percent`` of the scope (never less than 1)."""

    at_most: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None
    percent: Annotated[float, Field(gt=0, le=100)] | None = None
    within: Within
    per: Literal["cluster", "job", "rack", "policy"] = "cluster"

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.at_most is None) == (self.percent is None):
            raise ValueError("give either at_most or percent")
        return self


class Acts(_Document):
    """How many incidents of one policy may act in a cluster before it puts itself in shadow."""

    at_most: Annotated[int, Field(ge=1, le=MOST_ACTS, strict=True)] = 6
    within: ActsWithin = HOUR


class TrustRule(_Document):
    """Which share of its judged acts must be on faulty hardware, once ``of`` of them are judged."""

    at_least: Annotated[float, Field(ge=0, le=1)] = 0.8
    of: Annotated[int, Field(ge=1, le=MOST_ACTS, strict=True)] = 10


class Schedule(_Document):
    """When it may act: in any of ``only``, in none of ``never``; entries as ``Mon-Fri 08:00-18:00``, a fixed offset."""

    only: Annotated[tuple[Week, ...], Field(max_length=20)] = ()
    never: Annotated[tuple[Week, ...], Field(max_length=20)] = ()
    zone: Zone = "+00:00"

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.only and not self.never:
            raise ValueError("give only, never or both")
        return self


Limited = Literal["replacements", "reboots", "resets", "restarts", "isolations", "suspensions"]


class ExampleEvent(_Document):
    """One event of an example; what is left out is as plain as can be. ``after`` counts from the first event.

    ``node`` and ``rack`` tell nodes apart where a count goes over many.
    """

    kind: Kind
    node: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "node-1"
    rack: Annotated[str, StringConstraints(max_length=64)] = ""
    after: Offset = 0.0
    count: Annotated[int, Field(ge=1, le=LARGEST_NUMBER, strict=True)] = 1
    severity: Severity = Severity.ERROR
    component: Component | None = None
    job: JobRef | None = None
    attributes: dict[str, Scalar] = {}
    message: Annotated[str, StringConstraints(max_length=2048)] = ""


class Example(_Document):
    """A story with its end: these events make so many findings. It runs whenever the policy is loaded.

    Each node goes on sending heartbeats ``until`` then. ``facts`` hold for all nodes and all along; others are unknown,
    and so is the version of NVIDIA's driver where ``driver_version`` is empty.
    """

    says: Short
    instance_type: str = "p5.48xlarge"
    driver_version: str = ""
    facts: Annotated[dict[str, Scalar], Field(max_length=20)] = {}
    events: Annotated[tuple[ExampleEvent, ...], Field(min_length=1, max_length=50)]
    until: Offset = 0.0
    findings: Annotated[int, Field(ge=0, le=50, strict=True)]

    @field_validator("facts")
    @classmethod
    def _known(cls, facts: dict[str, Scalar]) -> dict[str, Scalar]:
        for member, value in facts.items():
            if member not in FACTS:
                msg = f"there is no fact {member[:64]!r}; known are {', '.join(sorted(FACTS))}"
                raise ValueError(msg)
            if not FACTS[member].holds(value):
                msg = f"{member} holds a {FACTS[member].type.value}"
                raise ValueError(msg)
        return facts


class PolicyFields(_Document):
    """The fields of a policy, each good by itself. ``for`` is a word of Python's, so `dwell`."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
    mode: PolicyMode
    why: Annotated[Short, StringConstraints(min_length=1)]
    cites: tuple[Short, ...] = ()
    when: Annotated[str, StringConstraints(min_length=1)]
    count: Count = ONE_OCCURRENCE
    unless: str | None = None
    dwell: For | None = Field(default=None, alias="for")
    settle: Settle = 0.0
    evidence: EvidenceRule = EvidenceRule.TRANSIENT
    do: Annotated[tuple[Action, ...], Field(min_length=1, max_length=8)]
    otherwise: Annotated[tuple[Action, ...], Field(max_length=8)] = ()
    limits: dict[Limited, LimitRule] = {}
    deadline: Deadline = 900.0
    priority: Annotated[int, Field(ge=-100, le=100, strict=True)] = 0
    approval: Flag = False
    approve_within: ApproveWithin = HOUR
    acts: Acts = Acts()
    trust: TrustRule = TrustRule()
    schedule: Schedule | None = None
    cancel_when: str | None = None
    examples: Annotated[tuple[Example, ...], Field(max_length=20)] = ()


class Policy(PolicyFields):
    """One rule with its consequence: fields that go together. Durations are in seconds once read."""

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        for found in contradictions(self):
            raise ValueError(f"{found.path}: {found.reason}")
        return self

    def plan(self, revision: int) -> PolicyPlan:
        """Return what findings of this *revision* ask for."""
        return PolicyPlan(
            name=self.name,
            revision=revision,
            mode=self.mode,
            why=self.why,
            do=self.do,
            otherwise=self.otherwise,
            evidence=self.evidence,
            settle_seconds=self.settle,
            deadline_seconds=self.deadline,
            limits=_limits(self.limits),
            priority=self.priority,
            approval=self.approval,
            approve_within_seconds=self.approve_within,
            acts=Pace(at_most=self.acts.at_most, within_seconds=self.acts.within),
            schedule=_hours(self.schedule),
            trust=Trust(at_least=self.trust.at_least, of=self.trust.of),
        )


def _hours(schedule: Schedule | None) -> Hours | None:
    return Hours(only=schedule.only, never=schedule.never, zone=schedule.zone) if schedule else None


def _limits(rules: Mapping[Limited, LimitRule]) -> dict[str, Limit]:
    return {
        name: Limit(at_most=rule.at_most, percent=rule.percent, within_seconds=rule.within, per=rule.per)
        for name, rule in rules.items()
    }
