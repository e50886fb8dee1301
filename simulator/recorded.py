"""What the archive says of the past: how each rung of an incident went, and what persons answered and when.

Decides which version of a document counts (the highest) and what of it a rehearsal needs. In a replay the same incident
may bear another name, by another revision of its policy or by another of its findings: `courses.py` says which it is.
It must not read files.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from functions.ports.acts import ActRecord
from policies.contract.archive import Happening
from policies.contract.decisions import CloseMessage, RungReport
from policies.contract.identifiers import stable_id
from policies.contract.restraints import ApproveMessage
from policies.contract.rungs import Rung, RungStatus
from policies.contract.times import format_time
from policies.coordination.denying import DENIED
from policies.coordination.incident import Incident
from policies.coordination.notes import Entry
from policies.coordination.states import IncidentStatus
from policies.moments import later
from simulator.courses import OVER, Course, Matter, matter_of, matters_in

Answer = ApproveMessage | CloseMessage


@dataclass(frozen=True)
class Told:
    """A person's answer and when it was given."""

    at: datetime
    message: Answer


@dataclass(frozen=True)
class Rehearsed:
    """How a rung went: ``report`` at ``at``."""

    at: datetime
    report: RungReport

    def delayed(self, seconds: float) -> "Rehearsed":
        """Return the same so many *seconds* later, or sooner."""
        at = later(self.at, timedelta(seconds=seconds))
        return Rehearsed(at, self.report.model_copy(update={"at": at}))


UNENDED: Final = "unended"
"""Of a rung that was begun, or had come next, and whose end is not known: none that the past tells of."""


@dataclass
class Recorded:
    """All that was recorded. ``until`` is when the last of it was, None where there is nothing."""

    rungs: dict[tuple[str, Rung, int], Rehearsed] = field(default_factory=dict)
    until: datetime | None = None
    _begun: set[tuple[str, Rung, int]] = field(default_factory=set)
    _open: dict[str, object] = field(default_factory=dict)  # when it was opened, as its document says
    _unread: int = 0
    _broken: set[str] = field(default_factory=set)
    _documents: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    _names: dict[Matter, str] = field(default_factory=dict)
    _courses: dict[str, Course | None] = field(default_factory=dict)  # of those that were asked for: they act
    _answers: list[Told] | None = None

    @classmethod
    def of(cls, happenings: Iterable[Happening]) -> "Recorded":
        """Return what *happenings* of the incidents table tell, in whatever order."""
        recorded = cls()
        for each in happenings:
            recorded.until = max(recorded.until or each.at, each.at)
            if each.what == "incident":
                recorded._keep(each.document)
            elif each.what == "act":
                recorded._note(each.document)
        return recorded

    def _keep(self, document: dict[str, Any]) -> None:
        """Keep the newest version, small: an archive has as many incidents as there were faults."""
        name, version = document.get("id"), document.get("version")
        if not isinstance(name, str) or not isinstance(version, int):
            self._unread += 1
            return
        if version > self._documents.get(name, (0, b""))[0]:
            self._documents[name] = (version, zlib.compress(json.dumps(document).encode(), 1))
            self._open.pop(name, None)
            if document.get("status") not in OVER:
                self._open[name] = document.get("opened_at")
            for matter in matters_in(document):
                self._names.setdefault(matter, name)

    def _note(self, document: dict[str, Any]) -> None:
        try:
            act = ActRecord.model_validate_json(json.dumps(document))
        except ValueError:
            self._unread += 1
            return
        key = (act.incident, act.rung, act.turn)
        self._begun.add(key)
        if act.report is None or act.report.status is RungStatus.WAITING:
            return
        at = act.updated_at or act.report.at
        there = self.rungs.get(key)
        # A rung that failed under one attempt and was done under the next is done.
        if there is None or (act.report.status is RungStatus.DONE, at) > (
            there.report.status is RungStatus.DONE,
            there.at,
        ):
            self.rungs[key] = Rehearsed(at, act.report)

    def name_of(self, incident: Incident) -> str:
        """Return the name under which *incident* of a replay was recorded; its own where it was not."""
        matter = None if incident.id in self._documents else matter_of(incident)
        return incident.id if matter is None else self._names.get(matter, incident.id)

    def went(self, incident: Incident, rung: Rung) -> Rehearsed | Literal["unended"] | None:
        """Return how *rung*, at which *incident* of a replay stands, went then; None where nobody knows.

        What comes behind the first rung that differs is another world's: nobody knows how it would have gone.
        """
        name = self.name_of(incident)
        course, key = self._course(name), (name, rung, incident.turn)
        if course is None:
            return self.rungs.get(key)
        if not course.leads_to(incident):
            return None
        if course.ends_at(incident):
            return UNENDED
        if key not in self.rungs:
            return UNENDED if key in self._begun and course.is_over else None
        seconds = 0.0 if name == incident.id else course.seconds_behind(incident)
        return self.rungs[key].delayed(seconds) if seconds else self.rungs[key]

    def known_until(self, incident: Incident, end: datetime) -> datetime | None:
        """Return when the archive falls silent about *incident* of a replay whose records *end* then.

        None where it tells the end, or nothing at all. One that was open at its deadline would have parked.
        """
        name = self.name_of(incident) if self._open else ""
        course = self._course(name) if name in self._open else None
        return min(max(end, self.until or end), course.deadline) if course else None

    def under_way(self, moment: datetime) -> str:
        """Return what changes once the archive tells more of an incident that was opened before *moment* and is open.

        A replay has its rungs last until the deadline. Whoever learns later how they ended has to tell it anew.
        """
        before = format_time(moment)
        mine = sorted(name for name, opened_at in self._open.items() if str(opened_at) < before)
        return stable_id("under way", *(f"{name}:{self._documents[name][0]}" for name in mine))

    def _course(self, name: str) -> Course | None:
        """Return the way of the incident of this *name*; None where its document is not there, or cannot be read."""
        if name in self._documents and name not in self._courses:
            try:
                told = Incident.model_validate_json(zlib.decompress(self._documents[name][1]))
                self._courses[name] = Course.of(told)
            except ValueError:
                self._courses[name] = None
        return self._courses.get(name)

    def incidents(self) -> Iterator[Incident]:
        """Yield each incident as it stood last, one at a time."""
        for name, (_version, kept) in self._documents.items():
            try:
                yield Incident.model_validate_json(zlib.decompress(kept))
            except ValueError:
                self._broken.add(name)

    @property
    def unreadable(self) -> int:
        """How many documents this version cannot read; of incidents once they were asked for."""
        return self._unread + len(self._broken)

    def answers(self) -> list[Told]:
        """Return what persons answered, in the order of time; found once, for all who ask."""
        if self._answers is None:
            told = (one for incident in self.incidents() for one in _answers(incident))
            self._answers = sorted(told, key=lambda one: (one.at, one.message.incident))
        return self._answers


def _answers(incident: Incident) -> Iterator[Told]:
    for entry in incident.timeline:
        if entry.stage == "closed" and incident.status is IncidentStatus.CLOSED:
            yield from (_denials(incident, entry.at) if incident.denials else _ending(incident, entry))
            return  # what comes behind says for how long it was denied
        if entry.stage in {"approved", "not_approved"}:
            yield Told(entry.at, _approval(incident, entry.detail, approved=True))


def _denials(incident: Incident, ended: datetime) -> Iterator[Told]:
    """Yield each no with the time for which it was said; the first was taken when the incident *ended*."""
    for each in incident.denials:
        yield Told(
            max(each.at, ended),
            ApproveMessage(
                cluster=incident.cluster,
                incident=incident.id,
                by=each.by,
                reason=each.why,
                approved=False,
                at=each.at,
                for_seconds=None if each.usual else (each.until - each.at).total_seconds(),
            ),
        )


def _ending(incident: Incident, entry: Entry) -> Iterator[Told]:
    said = entry.detail.removeprefix(f"{incident.outcome}: ")
    if incident.outcome == DENIED:
        told = _approval(incident, said, approved=False)
        yield Told(entry.at, told.model_copy(update={"for_seconds": 0.0}))  # of when a no ended the incident alone
    elif said.startswith("by "):
        by, reason = _split(said)
        yield Told(entry.at, CloseMessage(cluster=incident.cluster, incident=incident.id, by=by, reason=reason))


def _approval(incident: Incident, said: str, *, approved: bool) -> ApproveMessage:
    by, reason = _split(said)
    return ApproveMessage(
        cluster=incident.cluster,
        incident=incident.id,
        by=by,
        reason=reason.partition("; it does not go on: ")[0],
        approved=approved,
    )


def _split(said: str) -> tuple[str, str]:
    by, _, reason = said.removeprefix("by ").partition(": ")
    return by or "a person", reason
