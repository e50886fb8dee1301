"""Archives for tests: records of one node, a second apart, written as the writers write them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from functions.adapters.archive_packing import pack
from functions.ports.archive import ArchiveWriter
from policies.contract.archive import ArchivedRecord, Happening, format_happening, format_record
from policies.contract.archive_names import EVENTS, INCIDENTS

BEGIN = datetime(2026, 11, 30, 6, 59, 30, tzinfo=UTC)


def record(number: int, shard: int = 0, lane: str = "faults", body: bytes = b'{"events":[]}') -> ArchivedRecord:
    """Return a record that arrived *number* seconds after `BEGIN`."""
    return ArchivedRecord(BEGIN + timedelta(seconds=number), lane, f"shardId-{shard:012d}:{number:056d}", body)


def happening(number: int, version: int = 1) -> Happening:
    """Return a version of the incident *number*."""
    at = BEGIN + timedelta(seconds=number, milliseconds=version)
    return Happening(at, "incident", f"incident-{number}:{version:08d}", {"id": f"incident-{number}"})


def write(archive: ArchiveWriter, records: Iterable[ArchivedRecord], source: str = "faults-0") -> Sequence[str]:
    """Write *records* as one batch; return the keys."""
    packed = list(pack(records, EVENTS, source, format_record))
    for key, body in packed:
        archive.put(key, body)
    return [key for key, _ in packed]


def write_happenings(archive: ArchiveWriter, told: Iterable[Happening], family: str = INCIDENTS) -> None:
    """Write versions of documents as one batch."""
    for key, body in pack(told, family, family, format_happening):
        archive.put(key, body)
