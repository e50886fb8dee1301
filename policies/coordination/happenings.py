"""What can happen to an incident: frozen values, each with the line it leaves in the timeline.

It must not know the incident's status (the table in `states.py` does) or what else changes (`evolve.py` does).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung
from policies.coordination.judgements import Judgement
from policies.coordination.notes import STAGE_OF, Alert, FindingNote, PlannedRung, Stage


class Line(NamedTuple):
    """One line of the timeline before it is numbered."""

    stage: Stage
    at: datetime
    detail: str = ""
    alert: Alert = "none"


@dataclass(frozen=True)
class Opened:
    """A finding took the lease of its node."""

    detail: str = ""

    def line(self, now: datetime) -> Line:
        return Line("decided", now, self.detail, "notify")


@dataclass(frozen=True)
class Recorded:
    """A finding that nobody acts on: shadow, late, or without an executor."""

    reason: str
    alert: Alert

    def line(self, now: datetime) -> Line:
        return Line("decided", now, self.reason, self.alert)


@dataclass(frozen=True)
class Joined:
    """One more finding on the same node: the same cause, or news that comes too late.

    ``unmet`` are rungs that its policy wants and that this incident, on its way already, does not carry out.
    """

    note: FindingNote
    messages: tuple[str, ...] = ()
    unmet: tuple[Rung, ...] = ()

    def line(self, now: datetime) -> Line:
        late = " (late)" if self.note.late else ""
        said = f"{self.note.policy}: {self.note.kind}{late}"
        if not self.unmet:
            return Line("joined", now, said)
        return Line("joined", now, f"{said}; it wants {', '.join(self.unmet)}, and nobody does that here", "page")


@dataclass(frozen=True)
class Settled:
    """Settle time is over, budgets and holds are taken: the first rung may be carried out."""

    def line(self, now: datetime) -> Line:
        return Line("settled", now)


@dataclass(frozen=True)
class Advanced:
    """A rung is done."""

    report: RungReport

    def line(self, now: datetime) -> Line:
        return Line(STAGE_OF.get(self.report.rung, "done"), min(self.report.at, now), self.report.reason)


@dataclass(frozen=True)
class Skipped:
    """A rung failed that is not worth stopping for."""

    report: RungReport

    def line(self, now: datetime) -> Line:
        return Line("skipped", now, f"{self.report.rung}: {self.report.reason}")


@dataclass(frozen=True)
class Faltered:
    """An executor broke in the middle of a rung; it is tried again."""

    error: str

    def line(self, now: datetime) -> Line:
        return Line("faltered", now, self.error)


@dataclass(frozen=True)
class Escalated:
    """A rung failed: the plan goes on with the rungs of the policy's ``otherwise``."""

    rungs: tuple[PlannedRung, ...]
    reason: str

    def line(self, now: datetime) -> Line:
        return Line("escalated", now, self.reason, "notify")


@dataclass(frozen=True)
class SetAside:
    """The run did not go on from ``step``: it is stopped again, to go on from the one before it."""

    step: int
    rungs: tuple[PlannedRung, ...]
    reason: str

    def line(self, now: datetime) -> Line:
        return Line("set_aside", now, f"step {self.step}: {self.reason}", "notify")


@dataclass(frozen=True)
class StoodAside:
    """Somebody else stops or resumes the run: that is left to them."""

    reason: str

    def line(self, now: datetime) -> Line:
        return Line("stood_aside", now, self.reason, "notify")


@dataclass(frozen=True)
class BecameResumer:
    """It released its hold and was the last: the job, let go ``resumes`` times before, is its to resume."""

    resumes: int

    def line(self, now: datetime) -> Line:
        return Line("resuming", now, "no other incident needs the run stopped")


@dataclass(frozen=True)
class Restarted:
    """A new attempt takes over from an execution that ended or grew too long."""

    reason: str

    def line(self, now: datetime) -> Line:
        return Line("restarted", now, self.reason)


@dataclass(frozen=True)
class Parked:
    """A person has to look."""

    reason: str

    def line(self, now: datetime) -> Line:
        return Line("parked", now, self.reason, "page")


@dataclass(frozen=True)
class Approved:
    """A person said that it may act; ``said`` is who and why."""

    said: str

    def line(self, now: datetime) -> Line:
        return Line("approved", now, self.said, "notify")


@dataclass(frozen=True)
class NotApproved:
    """A person said that it may act, and that counts no more."""

    reason: str

    def line(self, now: datetime) -> Line:
        return Line("not_approved", now, self.reason)


@dataclass(frozen=True)
class DeniedAgain:
    """A person said of an incident that was denied how long that holds."""

    reason: str

    def line(self, now: datetime) -> Line:
        return Line("not_approved", now, self.reason, "notify")


@dataclass(frozen=True)
class Judged:
    """A person said what it was; ``judgements`` are all that were said by now."""

    judgements: tuple[Judgement, ...]
    said: str

    def line(self, now: datetime) -> Line:
        return Line("judged", now, self.said)


@dataclass(frozen=True)
class Distrusted:
    """What is known of its hardware by now was one wrong act too many of its policy."""

    reason: str

    def line(self, now: datetime) -> Line:
        return Line("distrusted", now, self.reason, "page")


@dataclass(frozen=True)
class Eased:
    """The reason of a finding is gone; what was begun is not undone for that."""

    reason: str

    def line(self, now: datetime) -> Line:
        return Line("eased", now, self.reason)


@dataclass(frozen=True)
class CalledOff:
    """Its policy may not act any more, and it had touched nothing: what was decided is only recorded."""

    reason: str
    alert: Alert

    def line(self, now: datetime) -> Line:
        return Line("closed", now, f"recorded: {self.reason}", self.alert)


@dataclass(frozen=True)
class Closed:
    """Nothing is left to do. ``outcome``: replaced, recovered, merged, cleared, denied or closed_by_person."""

    outcome: str
    reason: str

    def line(self, now: datetime) -> Line:
        return Line("closed", now, f"{self.outcome}: {self.reason}" if self.reason else self.outcome, "notify")


Happening = (
    Opened
    | Recorded
    | Joined
    | Settled
    | Advanced
    | Skipped
    | Faltered
    | Escalated
    | SetAside
    | StoodAside
    | BecameResumer
    | Restarted
    | Parked
    | Approved
    | NotApproved
    | DeniedAgain
    | Judged
    | Distrusted
    | Eased
    | CalledOff
    | Closed
)
