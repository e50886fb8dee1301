"""How far the way of a recorded incident is the way of one in a replay, and how far it is known.

Decides which two are the same incident, whatever revision found it, and which of its rungs were carried out then as
they would be now: those before the first one that differs. An incident's name comes of the finding that opened it, and
that one's of the very text of its policy; what the fault is, and when it began, says no word of the text. It must not
know what a rung came to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from policies.contract.rungs import Rung
from policies.contract.times import format_time, parse_time
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus

# Between the end of settling and the answer lie Step Functions, a queue and a function that starts cold. A replay has
# none of them.
LATENCY_SECONDS = 10.0
OVER = frozenset({IncidentStatus.PARKED, IncidentStatus.CLOSED})


class Matter(NamedTuple):
    """What a policy found on one node since one moment, which an incident of ``generation`` is about."""

    cluster: str
    generation: str
    policy: str
    instance: str
    since: str


def matter_of(incident: Incident) -> Matter | None:
    """Return what opened *incident*; None of one that keeps no finding."""
    if not incident.findings:
        return None
    first = incident.findings[0]
    instance = first.node or incident.node.instance_id
    return Matter(incident.cluster, incident.generation, first.policy, instance, format_time(first.first_observed_at))


def matters_in(document: dict[str, Any]) -> Iterator[Matter]:
    """Yield what may have opened the incident in *document*, which acts or waits to.

    It is chance which finding is decided first: of those that several nodes of a run make at once by one policy, and of
    those of several policies in one message, which stand there in the order of their names.
    """
    found, cluster, generation = document.get("findings"), document.get("cluster"), document.get("generation")
    notes = [note for note in found if isinstance(note, dict)] if isinstance(found, list) else []
    if not (document.get("fence") and notes and isinstance(cluster, str) and isinstance(generation, str)):
        return
    leading, node = notes[0].get("policy"), document.get("node")
    here = node.get("instance_id") if isinstance(node, dict) else None  # notes of before do not tell theirs
    together = 1 + _joined_at_once(document)
    for number, note in enumerate(notes):
        since, instance = _moment(note.get("first_observed_at")), note.get("node") or here
        policy, is_first = note.get("policy"), number < together
        if isinstance(policy, str) and (is_first or policy == leading) and since and isinstance(instance, str):
            yield Matter(cluster, generation, policy, instance, since)


def _joined_at_once(document: dict[str, Any]) -> int:
    """Return how many findings joined the incident in *document* in the very decision that opened it."""
    found, opened = document.get("timeline"), document.get("opened_at")
    lines = [line for line in found if isinstance(line, dict)] if isinstance(found, list) else []
    return sum(line.get("stage") == "joined" and line.get("at") == opened for line in lines)


def _moment(text: object) -> str:
    try:
        return format_time(parse_time(text)) if isinstance(text, str) else ""
    except ValueError:
        return ""


@dataclass(frozen=True)
class Course:
    """The way of a recorded incident: its plan as it stood last, where in it, when it settled and had to end."""

    rungs: Sequence[Rung]
    position: int
    turn: int
    is_over: bool
    settled_at: datetime | None
    deadline: datetime

    @classmethod
    def of(cls, incident: Incident) -> "Course":
        """Return the way of *incident*."""
        rungs = tuple(each.rung for each in incident.rungs)
        is_over = incident.status in OVER
        return cls(rungs, incident.position, incident.turn, is_over, _settled(incident), incident.deadline)

    def leads_to(self, incident: Incident) -> bool:
        """Whether all that is behind *incident* was behind the recorded one too, when it stood there."""
        behind = tuple(each.rung for each in incident.rungs[: incident.position])
        return self.rungs[: incident.position] == behind

    def ends_at(self, incident: Incident) -> bool:
        """Whether *incident*, to which it leads, stands where an open one stood last: nobody knows how it went on."""
        if self.is_over or (incident.turn, incident.position) < (self.turn, self.position):
            return False
        current = incident.current.rung if incident.current else None
        return self.rungs[incident.position : incident.position + 1] == (current,)

    def seconds_behind(self, incident: Incident) -> float:
        """Return how much later than the recorded one *incident* began to act: a longer settle delays all of it."""
        mine = _settled(incident)
        if mine is None or self.settled_at is None:
            return 0.0
        seconds = (mine - self.settled_at).total_seconds()
        return seconds if abs(seconds) > LATENCY_SECONDS else 0.0


def _settled(incident: Incident) -> datetime | None:
    return next((each.at for each in incident.timeline if each.stage == "settled"), None)
