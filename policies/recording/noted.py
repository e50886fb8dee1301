"""What an incident itself still knows of what was seen: enough for an example where there is no archive.

Decides what is made up of a finding that counted several events: as many as it counted, evenly between its first and
its last moment. It must not know policies or tables.
"""

from collections.abc import Iterator
from datetime import datetime

from policies.contract.events import FaultEvent
from policies.contract.identifiers import stable_id
from policies.coordination.incident import Incident
from policies.coordination.notes import FindingNote
from policies.explain.incidents import component_of
from policies.recording.sightings import Sighting

MOST_OF_ONE = 50  # an example has no more events


def noted(incident: Incident, policy: str = "") -> Iterator[Sighting]:
    """Yield what the findings of *policy* ("": of all) in *incident* stand for."""
    for note in incident.findings:
        if not policy or note.policy == policy:
            yield from _of(note, incident)


def _of(note: FindingNote, incident: Incident) -> Iterator[Sighting]:
    times = min(note.count, MOST_OF_ONE) if note.first_observed_at < note.observed_at else 1
    step = (note.observed_at - note.first_observed_at) / max(times - 1, 1)
    node = incident.node.model_copy(update={"instance_id": note.node or incident.node.instance_id})
    for number in range(times):
        moment = note.observed_at if number == times - 1 else note.first_observed_at + step * number
        rest = note.count - times + 1 if number == times - 1 else 1
        yield Sighting(_event(note, incident, moment, number, rest), node, moment)


def _event(note: FindingNote, incident: Incident, moment: datetime, number: int, count: int) -> FaultEvent:
    return FaultEvent(
        id=stable_id("note", note.id, number),
        seq=number,
        kind=note.kind,
        severity=note.severity,
        source=note.source,
        observed_at=moment,
        first_observed_at=moment,
        count=max(count, 1),
        component=component_of(note.component),
        job=incident.job,
        attributes=dict(note.attributes),
        message=incident.messages[0] if len(incident.messages) == 1 else "",
    )
