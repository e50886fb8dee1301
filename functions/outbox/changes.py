"""What changed in an incident, from the two images of its META item.

Decides which change is worth an announcement: one that wrote a line of the timeline. It must not know the bus.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from functions.adapters.coordination_items import read_incident
from policies.coordination.incident import Incident
from policies.coordination.notes import Entry

META = "META"
INCIDENT = "INCIDENT#"


@dataclass(frozen=True)
class Change:
    """One version of an incident and the lines of the timeline that it brought, in order."""

    incident: Incident
    entries: tuple[Entry, ...]
    first: bool


@dataclass(frozen=True)
class Unreadable:
    """A META item that this version of the code cannot read: people must hear of it all the same."""

    incident: str
    version: str
    reason: str


def change_of(record: Mapping[str, Any]) -> Change | Unreadable | None:
    """Return what *record* (of the incidents table's stream) changed; None when nothing that anybody waits for.

    Acts, timeline items and claims are other items of the same table; an item that expires is no change.
    """
    images = record["dynamodb"]
    new, old = images.get("NewImage"), images.get("OldImage")
    if new is None or new["sk"].get("S") != META or not new["pk"].get("S", "").startswith(INCIDENT):
        return None
    try:
        incident = read_incident(new)
        told = len(read_incident(old).timeline) if old else 0
    except (KeyError, ValueError) as error:
        version = str(new.get("version", {}).get("N", images.get("SequenceNumber", "")))
        return Unreadable(new["pk"]["S"].removeprefix(INCIDENT), version, f"{type(error).__name__}: {str(error)[:300]}")
    entries = incident.timeline[told:]
    return Change(incident, entries, first=old is None) if entries else None
