"""What holds a policy back, as it travels: how often it may act, when it may, and what takes its reason away.

It must not know when any of it applies (`policies/schedules.py`, `policies/coordination/` do).
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from policies.contract.base import Model
from policies.contract.identifiers import stable_id
from policies.contract.times import Moment

LONGEST_DENIED_SECONDS = 7 * 86400.0  # what is refused for longer is for an edit of the policy to say


class Pace(Model):
    """At most ``at_most`` acts of one policy in one cluster within so many seconds; then it goes into shadow."""

    at_most: int
    within_seconds: float


class Trust(Model):
    """A policy goes into shadow when of ``of`` judged acts or more fewer than this share were on faulty hardware."""

    at_least: float
    of: int


class Hours(Model):
    """When a policy may act, as an operator wrote it; ``zone`` is an offset from UTC such as ``+01:00``."""

    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    zone: str = "+00:00"


class Cancellation(Model):
    """What took away the reason of a policy's findings about one node, at that moment and before.

    ``component`` is the key of the part that is well again; empty when the whole node is meant.
    """

    policy: str
    generation: str
    at: Moment
    event_id: str
    component: str = ""
    also: tuple[str, ...] = ()  # the other names of that GPU, where the node told of both
    text: str = ""  # for people


class ApproveMessage(Model):
    """A person's answer to a policy that asks before it acts: it may, or (``approved`` false) it may not.

    A no holds ``for_seconds`` from ``at`` on, when it was said; one of 0 ends what holds. ``seen`` is the version of
    the incident that the person looked at. Those of before have none of the three: the usual time, all that is seen.
    """

    schema_version: Literal[1] = 1
    type: Literal["approve"] = "approve"
    cluster: str
    incident: str
    by: str
    reason: str = ""
    approved: bool = True
    at: Moment | None = None
    for_seconds: float | None = Field(default=None, ge=0, le=LONGEST_DENIED_SECONDS)
    seen: int | None = None

    @property
    def deduplication_id(self) -> str:
        """Return the same id for the same answer."""
        more = () if self.at is None else (self.at, self.for_seconds)
        return stable_id("approve", self.incident, self.by, self.reason, self.approved, *more)


VerdictWord = Literal["faulty", "healthy", "missed", "unknown"]


class VerdictMessage(Model):
    """What a person says of an incident when more is known: how its hardware was, or whose miss it is.

    ``unknown`` takes back what was said before. Of two words on one question the later counts (``at``: when it was
    said), whichever arrives first. ``policy`` is the one that ought to have found it; only a miss has one.
    """

    schema_version: Literal[1] = 1
    type: Literal["verdict"] = "verdict"
    cluster: str
    incident: str
    verdict: VerdictWord
    policy: str = ""
    by: str
    reason: str = ""
    at: Moment

    @model_validator(mode="after")
    def _of_one_question(self) -> Self:
        if self.verdict == "missed" and not self.policy:
            raise ValueError("missed names the policy that ought to have found it")
        if self.verdict in {"faulty", "healthy"} and self.policy:
            raise ValueError(f"{self.verdict} is said of hardware, and names no policy")
        return self

    @property
    def deduplication_id(self) -> str:
        """Return the same id for the same word."""
        return stable_id("verdict", self.incident, self.verdict, self.policy, self.by, self.reason, self.at)
