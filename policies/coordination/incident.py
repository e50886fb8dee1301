"""What an incident is: one faulty node generation, from the first finding to the close. One document, the META item.

It must not decide anything (`decide.py` does) or know how it is stored.
"""

import json
from typing import Any

from policies.contract.base import Model
from policies.contract.decisions import PolicyPlan
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.identifiers import stable_id
from policies.contract.rungs import Rung
from policies.contract.times import Moment
from policies.coordination.denials import Denial
from policies.coordination.judgements import Judgement
from policies.coordination.notes import Ask, Counted, Entry, Failure, FindingNote, PlannedRung
from policies.coordination.states import IncidentStatus

MOST_NOTES = 32  # a storm of findings about one node says nothing new after these, and costs no further write
MOST_ALIKE = 24  # and it leaves room for what is new, which a person may have to hear of
MOST_MESSAGES = 8


class Incident(Model):
    """The META document. ``version`` grows by one at each change; ``position`` points into ``rungs``.

    ``turn`` is 0 while the policy's ``do`` is under way; it grows with its ``otherwise`` and with each checkpoint that
    is set aside, since the same rung is another act then. ``under_way`` says that the current rung has begun in the
    world. ``fence`` is the one of the lease. ``started`` is the highest attempt whose execution has asked. ``facts``
    gathers the outcomes of the reports. ``deadline`` is for the whole incident. ``done`` are the rungs carried out.
    ``timeline`` is the truth that the ``T#`` items repeat. ``plans`` are those of all policies that saw the node while
    it settled and may act, the leading one first (none: ``policy`` alone); ``policy`` is what came of them.
    """

    id: str
    cluster: str
    generation: str
    node: NodeIdentity
    job: JobRef | None = None
    policy: PolicyPlan
    plans: tuple[PolicyPlan, ...] = ()
    status: IncidentStatus
    rungs: tuple[PlannedRung, ...] = ()
    position: int = 0
    turn: int = 0
    done: tuple[Rung, ...] = ()
    attempt: int = 1
    started: int = 0
    fence: int = 0
    resumes: int = 0  # how often the job had been let go when this incident became its resumer
    under_way: bool = False
    falters: int = 0  # breakdowns of the current rung's executor in a row
    ask: Ask | None = None
    facts: dict[str, Any] = {}
    findings: tuple[FindingNote, ...] = ()
    counted: tuple[Counted, ...] = ()  # of a recorded one: the latest of what its note counts, the oldest first
    messages: tuple[str, ...] = ()
    opened_at: Moment
    settle_until: Moment
    deadline: Moment
    updated_at: Moment
    version: int = 1
    timeline: tuple[Entry, ...] = ()
    approve_until: Moment | None = None  # until when a person's approval counts, of a policy that asks first
    approved_by: str = ""
    failures: tuple[Failure, ...] = ()  # of rungs, at most a few: each ends a plan or turns to a ladder
    denials: tuple[Denial, ...] = ()  # what persons refused, and until when; the last one counts
    judgements: tuple[Judgement, ...] = ()  # what persons said of it afterwards
    reason: str = ""  # why it parked or closed, for people
    outcome: str = ""  # replaced | recovered | recorded | merged | cleared | denied | closed_by_person

    @property
    def current(self) -> PlannedRung | None:
        """The rung to carry out next, None past the last one."""
        return self.rungs[self.position] if self.position < len(self.rungs) else None

    @property
    def execution(self) -> str:
        """The name of the execution that works on it: the same attempt always gets the same name."""
        return execution_name(self.id, self.attempt)

    @property
    def needs_job_stopped(self) -> bool:
        """Whether its plan suspends the job."""
        return self.job is not None and any(each.rung is Rung.SUSPEND_JOB for each in self.rungs)

    @property
    def acted(self) -> bool:
        """Whether anything in the world may have been touched."""
        return any(entry.stage == "settled" for entry in self.timeline)

    def has_room(self, note: FindingNote) -> bool:
        """Whether it keeps *note*: the first ones of a storm, and each that is like none of them."""
        if len(self.findings) < MOST_ALIKE:
            return True
        return len(self.findings) < MOST_NOTES and all(each.subject != note.subject for each in self.findings)

    def knows(self, finding_id: str) -> bool:
        """Whether this finding is among its notes."""
        return any(note.id == finding_id for note in self.findings)


def latest_lines(incident: Incident) -> tuple[Entry, ...]:
    """Return the timeline entries that the last change with any brought."""
    newest = max((entry.version for entry in incident.timeline), default=0)
    return tuple(entry for entry in incident.timeline if entry.version == newest)


def incident_id(generation: str, finding_id: str) -> str:
    """Return the id of the incident that this finding opens if none is open for its node generation."""
    return stable_id("incident", generation, finding_id)


def execution_name(incident: str, attempt: int) -> str:
    """Return the name of handle-incident's execution: at most 80 characters, unique for 90 days at Step Functions."""
    return f"{incident}-{attempt}"


def execution_input(cluster: str, incident: str, attempt: int) -> str:
    """Return the input of that execution: always the same text, since another one under the same name is refused."""
    return json.dumps({"attempt": attempt, "cluster": cluster, "incident": incident}, sort_keys=True)
