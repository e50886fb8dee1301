"""One batch of a lane or of a table's stream into the archive: every record of it, or the batch comes again.

Decides nothing about a record but where it belongs. A batch that is written twice makes the same objects, one that was
cut otherwise makes some that overlap. It must not know S3.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from functions.adapters.archive_packing import pack
from functions.archive import incidents, policies
from functions.archive.keeping import Keeper
from functions.ports.archive import ArchiveWriter
from functions.ports.triage import Telemetry
from functions.triage.records import read_records
from policies.contract.archive import Happening, format_happening
from policies.contract.archive_names import INCIDENTS, POLICIES

_STREAM = "aws:dynamodb"


@dataclass(frozen=True)
class Archive:
    """The writer with its ports; `handle` takes one batch."""

    archive: ArchiveWriter
    keeper: Keeper
    telemetry: Telemetry
    clock: Callable[[], datetime]

    def handle(self, event: Mapping[str, Any]) -> None:
        """Write what *event* (of Kinesis, SQS or a table's stream) brings. Raises DependencyError: it comes again."""
        brought = event.get("Records", ())
        changes = [one for one in brought if one.get("eventSource") == _STREAM]
        records = read_records({"Records": [one for one in brought if one.get("eventSource") != _STREAM]})
        written = self.keeper.keep(records, self.clock()) if records else 0
        told = list(self._happenings(changes))
        for family in (INCIDENTS, POLICIES):
            written += self._write(family, [one for group, one in told if group == family])
        self.telemetry.count("RecordsArchived", len(records) + len(told))
        self.telemetry.count("ObjectsWritten", written)

    def _write(self, family: str, told: Sequence[Happening]) -> int:
        written = 0
        for key, body in pack(told, family, family, format_happening):
            self.archive.put(key, body)
            written += 1
        return written

    def _happenings(self, changes: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Happening]]:
        for record in changes:
            try:
                found = _read(record["dynamodb"])
            except Exception as error:  # noqa: BLE001 - a defect of ours, met by this item alone: the rest goes on
                self.telemetry.count("ChangesNotArchived")
                reason = f"{type(error).__name__}: {str(error)[:200]}"
                self.telemetry.warn("a change cannot be archived", keys=record["dynamodb"].get("Keys"), reason=reason)
                continue
            if found is not None:
                yield found


def _read(change: Mapping[str, Any]) -> tuple[str, Happening] | None:
    """Return the family and what happened, of one of the tables; their keys tell them apart."""
    keys, number = change["Keys"], str(change["SequenceNumber"])
    at = datetime.fromtimestamp(float(change.get("ApproximateCreationDateTime", 0)), UTC)
    old, new = change.get("OldImage"), change.get("NewImage")
    if "name" in keys:
        told = policies.happening_of(keys["name"]["S"], keys["sk"]["S"], (old, new), number, at)
        return (POLICIES, told) if told else None
    told = incidents.happening_of(new, number, at)
    return (INCIDENTS, told) if told else None
