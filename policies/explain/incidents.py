"""The events of an incident, as far as it keeps them, so that they can be asked again.

Decides what of a note an event can be made of: what it was, of which part, when. It must not know tables.
"""

import re
from collections.abc import Sequence

from policies.contract.events import Component, FaultEvent
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import ComponentType
from policies.coordination.incident import Incident
from policies.coordination.notes import FindingNote

_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?=:|$)")


def events_of(incident: Incident) -> Sequence[FaultEvent]:
    """Return an event for each finding of *incident*, newest first: a note has neither its message nor its count."""
    notes = sorted(incident.findings, key=lambda note: note.observed_at, reverse=True)
    return [_event(note, incident) for note in notes]


def _event(note: FindingNote, incident: Incident) -> FaultEvent:
    return FaultEvent(
        id=stable_id("note", note.id),
        seq=0,
        kind=note.kind,
        severity=note.severity,
        source=note.source,
        observed_at=note.observed_at,
        first_observed_at=note.first_observed_at,
        component=component_of(note.component),
        job=incident.job,
        attributes=dict(note.attributes),
        message=incident.messages[0] if len(incident.messages) == 1 else "",
    )


def component_of(key: str) -> Component | None:
    """Return the part that `Component.key` names, as far as it tells: type, and the name that it is known by."""
    kind, _, rest = key.partition(":")
    if kind not in set(ComponentType):
        return None
    part = Component(type=ComponentType(kind))
    found = _PCI.match(rest)
    if found:
        return part.model_copy(update={"pci": found[0]})
    if rest.isdecimal():
        return part.model_copy(update={"index": int(rest)})
    name = rest.partition(":")[0]
    return part.model_copy(update={"uuid": name} if name else {})
