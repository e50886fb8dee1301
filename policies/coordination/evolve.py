"""What each happening changes in an incident besides its status, and how its line enters the timeline.

It must not decide whether something happens, or touch leases, holds or budgets.
"""

from datetime import datetime
from typing import Any

from policies.contract.decisions import RungReport
from policies.contract.vocabulary import RECORDED
from policies.coordination.happenings import (
    Advanced,
    Approved,
    BecameResumer,
    CalledOff,
    Closed,
    DeniedAgain,
    Escalated,
    Faltered,
    Happening,
    Joined,
    Judged,
    Line,
    Parked,
    Recorded,
    Restarted,
    SetAside,
    Skipped,
    StoodAside,
)
from policies.coordination.incident import MOST_MESSAGES, Incident
from policies.coordination.notes import Entry
from policies.coordination.plan import RESUME_RUNGS
from policies.coordination.states import IncidentStatus, next_status

MOST_ENTRIES = 200  # five attempts of a ladder need about sixty; this only bounds the document
DETAIL_CHARACTERS = 500


def evolve(incident: Incident, happening: Happening, now: datetime) -> Incident:
    """Return *incident* after *happening*; IllegalTransitionError when it cannot happen in its status."""
    return _evolve(incident, next_status(incident.status, happening), happening, now)


def bear(draft: Incident, happening: Happening, now: datetime) -> Incident:
    """Return *draft* as the incident that *happening* opens or records; its own status is not looked at."""
    return _evolve(draft, next_status(None, happening), happening, now)


def _evolve(incident: Incident, status: IncidentStatus, happening: Happening, now: datetime) -> Incident:
    changes = {**_changes(incident, happening), "status": status, "updated_at": now}
    return write_line(incident.model_copy(update=changes), happening.line(now))


def write_line(incident: Incident, line: Line) -> Incident:
    """Return *incident* with one more line in its timeline; the entry's ``version`` is set when it is committed."""
    if len(incident.timeline) >= MOST_ENTRIES and line.stage not in {"parked", "closed", "distrusted"}:
        return incident
    entry = Entry(
        number=len(incident.timeline) + 1,
        version=0,
        stage=line.stage,
        at=line.at,
        detail=line.detail[:DETAIL_CHARACTERS],
        alert=line.alert,
    )
    return incident.model_copy(update={"timeline": (*incident.timeline, entry)})


def _changes(incident: Incident, happening: Happening) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    match happening:
        case Joined(note, messages, _):
            told = tuple(dict.fromkeys((*incident.messages, *messages)))[:MOST_MESSAGES]
            changes = {"findings": (*incident.findings, note), "messages": told}
        case Advanced(report) | Skipped(report):
            changes = _advanced(incident, report, done=isinstance(happening, Advanced))
        case BecameResumer() | Judged():
            kept = happening.resumes if isinstance(happening, BecameResumer) else happening.judgements
            changes = {"resumes" if isinstance(happening, BecameResumer) else "judgements": kept}
        case Faltered():
            changes = {"falters": incident.falters + 1}
        case Escalated() | SetAside() | StoodAside():
            changes = _replanned(incident, happening)
        case Restarted() | Approved():
            changes = {"attempt": incident.attempt + 1, "falters": 0}
        case Parked(reason) | DeniedAgain(reason):
            changes = {"reason": reason}
        case Closed(outcome, reason):
            changes = {"reason": reason, "outcome": outcome}
        case Recorded(reason, _) | CalledOff(reason, _):
            changes = {"reason": reason, "outcome": RECORDED}
    return changes


def _advanced(incident: Incident, report: RungReport, *, done: bool) -> dict[str, Any]:
    return {
        "facts": {**incident.facts, **report.outcome},
        "position": incident.position + 1,
        "done": (*incident.done, report.rung) if done else incident.done,
        "falters": 0,
        "under_way": False,
    }


def _replanned(incident: Incident, happening: Escalated | SetAside | StoodAside) -> dict[str, Any]:
    """The plan goes on with other rungs than what was left of it; a turn makes the same rung another act."""
    behind, ahead = incident.rungs[: incident.position], incident.rungs[incident.position :]
    if isinstance(happening, StoodAside):
        return {"rungs": (*behind, *(each for each in ahead if each.rung not in RESUME_RUNGS))}
    turned = {"rungs": (*behind, *happening.rungs), "turn": incident.turn + 1, "falters": 0, "under_way": False}
    if isinstance(happening, Escalated):
        return turned
    aside = [*incident.facts.get("set_aside", ()), happening.step]
    return {**turned, "facts": {**incident.facts, "set_aside": aside}}
