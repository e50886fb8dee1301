"""Every change of an incident, and every notice, reaches the bus once it is in the table: nobody else tells the bus.

What the bus refuses is tried again in order; what it still refuses comes back with the stream, from the first such
record on. An announcement told twice has the same id. It must not decide what is an alert.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from functions.outbox.changes import Change, Unreadable, change_of
from functions.outbox.notices import announcement_of
from functions.outbox.telling import tell, tell_unreadable
from functions.ports.bus import Announcement, Bus
from functions.ports.triage import Telemetry

ROUNDS = 3
TOLD = "ChangesTold"
REFUSED = "ChangesRefused"
UNREADABLE = "ChangesUnreadable"


def announce(records: Sequence[Mapping[str, Any]], *, bus: Bus, telemetry: Telemetry) -> tuple[str, ...]:
    """Tell *bus* what *records* changed; return the sequence number from which they must come again, if any."""
    numbered = list(_numbered(records, telemetry))
    refused = _deliver([announcement for _, announcement in numbered], bus)
    telemetry.count(TOLD, len(numbered) - len(refused))
    telemetry.count(REFUSED, len(refused))
    return tuple(number for number, announcement in numbered if announcement.id in refused)[:1]


def _numbered(records: Iterable[Mapping[str, Any]], telemetry: Telemetry) -> Iterable[tuple[str, Announcement]]:
    for record in records:
        number, change = record["dynamodb"]["SequenceNumber"], change_of(record)
        match change:
            case Change():
                yield number, tell(change)
            case Unreadable():
                telemetry.count(UNREADABLE)
                telemetry.warn("An incident's item cannot be read.", incident=change.incident, reason=change.reason)
                yield number, tell_unreadable(change, _written_at(record))
            case None:
                notice = announcement_of(record)
                if notice is not None:
                    yield number, notice


def _written_at(record: Mapping[str, Any]) -> datetime:
    """Return when DynamoDB took the change, to the second."""
    seconds = record["dynamodb"].get("ApproximateCreationDateTime", 0)
    return datetime.fromtimestamp(float(seconds), UTC)


def _deliver(announcements: Sequence[Announcement], bus: Bus) -> frozenset[str]:
    """Return the ids of what the bus refused in every round."""
    left = announcements
    for _ in range(ROUNDS):
        left = bus.put(left) if left else ()
    return frozenset(announcement.id for announcement in left)
