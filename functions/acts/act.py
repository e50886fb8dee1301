"""What an executor writes: an `Act`, asked to advance one rung until it says done or failed.

`advance` is convergent. It observes the world first, does only what is missing (each effect under a deterministic id
made from the incident's id), and may be called again after any crash, any number of times. It must not store anything
in Relight's tables: the frame does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from functions.settings import ClusterSettings
from policies.contract.decisions import PolicyPlan, RungReport
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.rungs import Rung, RungStatus
from policies.coordination.notes import FindingNote


@dataclass(frozen=True)
class ActContext:
    """What an act may know of its incident.

    ``incident`` is the id, ``facts`` the outcomes of the rungs before it, ``progress`` the outcome of this act's own
    last waiting report. ``intended_at`` is when this rung was first meant to be done, whichever attempt or retry this
    is: what the world did after it may be our own doing. ``polls`` counts the calls since the last answer of
    coordinate. Past ``deadline`` the incident is parked.
    """

    rung: Rung
    incident: str
    cluster: ClusterSettings
    node: NodeIdentity
    generation: str
    job: JobRef | None
    facts: Mapping[str, Any]
    progress: Mapping[str, Any]
    plan: PolicyPlan
    fence: int
    attempt: int
    polls: int
    now: datetime
    intended_at: datetime
    opened_at: datetime
    deadline: datetime
    messages: tuple[str, ...] = ()
    findings: tuple[FindingNote, ...] = ()

    def done(self, **outcome: Any) -> RungReport:  # noqa: ANN401 - facts are JSON of any shape
        """Report that the rung's effect stands; *outcome* becomes part of the incident's facts."""
        return RungReport(rung=self.rung, status=RungStatus.DONE, at=self.now, outcome=outcome)

    def waiting(self, seconds: float, reason: str, **outcome: Any) -> RungReport:  # noqa: ANN401 - as above
        """Report that the world is on its way: look again after *seconds* (the frame allows 1 to 60)."""
        return RungReport(
            rung=self.rung, status=RungStatus.WAITING, at=self.now, wait_seconds=seconds, reason=reason, outcome=outcome
        )

    def failed(self, reason: str, **outcome: Any) -> RungReport:  # noqa: ANN401 - as above
        """Report that the rung will not work, with a *reason* for the operator: the ladder goes on."""
        return RungReport(rung=self.rung, status=RungStatus.FAILED, at=self.now, reason=reason, outcome=outcome)


class Act(Protocol):
    """One rung on one orchestrator."""

    def advance(self, context: ActContext) -> RungReport:
        """Observe, do what is missing, say how far it is. Raises DependencyError for what a retry may cure."""
        ...
