"""What the archive says of the past: how each rung of an incident went, and what persons answered and when.

Decides which version of a document counts (the highest) and what of it a rehearsal needs. An incident is named after
the finding that opened it. Where several nodes find one thing at once, it is chance whose finding is decided first: in
a replay the same incident may bear another of these names, and it is known by each. It must not read files.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from functions.ports.acts import ActRecord
from policies.contract.archive import Happening
from policies.contract.decisions import CloseMessage, RungReport
from policies.contract.restraints import ApproveMessage
from policies.contract.rungs import Rung, RungStatus
from policies.coordination.denying import DENIED
from policies.coordination.incident import Incident, incident_id
from policies.coordination.notes import Entry
from policies.coordination.states import IncidentStatus

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


@dataclass
class Recorded:
    """All that was recorded."""

    rungs: dict[tuple[str, Rung, int], Rehearsed] = field(default_factory=dict)
    _begun: set[tuple[str, Rung, int]] = field(default_factory=set)
    _over: set[str] = field(default_factory=set)
    _unread: int = 0
    _broken: set[str] = field(default_factory=set)
    _documents: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _answers: list[Told] | None = None

    @classmethod
    def of(cls, happenings: Iterable[Happening]) -> "Recorded":
        """Return what *happenings* of the incidents table tell, in whatever order."""
        recorded = cls()
        for each in happenings:
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
            if document.get("status") in {IncidentStatus.PARKED, IncidentStatus.CLOSED}:
                self._over.add(name)
            else:
                self._over.discard(name)
            self._names |= dict.fromkeys(_other_names(document), name)

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

    def name_of(self, incident: str) -> str:
        """Return the name under which *incident* was recorded."""
        return incident if incident in self._documents else self._names.get(incident, incident)

    def names_of(self, recorded: str) -> Iterator[str]:
        """Yield the names that the incident may bear which was *recorded* under this one."""
        yield recorded
        if recorded in self._documents:
            yield from _other_names(json.loads(zlib.decompress(self._documents[recorded][1])))

    def never_ended(self, incident: str, rung: Rung, turn: int) -> bool:
        """Whether *rung* was begun and still went on when its incident was over; an open one was cut off instead."""
        key = (incident, rung, turn)
        return key in self._begun and key not in self.rungs and incident in self._over

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


def _other_names(document: dict[str, Any]) -> Iterator[str]:
    """Yield the names that an incident which acts, or waits to, would have by other findings of the policy it is of."""
    found, generation = document.get("findings"), document.get("generation")
    notes = [note for note in found if isinstance(note, dict)] if isinstance(found, list) else []
    if document.get("fence") and isinstance(generation, str):
        alike = (note.get("id") for note in notes[1:] if note.get("policy") == notes[0].get("policy"))
        yield from (incident_id(generation, each) for each in alike if isinstance(each, str))


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
