"""A period of the archive, read in order: its records, or the versions of its documents.

Decides which objects a period needs: an object holds lines of one hour, so those of other hours stay closed. It must
not know where the archive lies (a port) or what is done with what is read.
"""

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from functions.ports.archive import ArchiveObject, ArchiveReader
from policies.contract.archive import ArchivedRecord, BadLine, Happening, Order, parse_happening, parse_record
from policies.contract.archive_names import EVENTS, ObjectName, hour_of
from policies.contract.errors import BadInputError
from simulator.archive.merging import merge
from simulator.archive.reading import Told
from simulator.archive.unpacking import lines_of

_Entry = TypeVar("_Entry", ArchivedRecord, Happening)
AHEAD = 2_000  # entries of one object that are held: some 2 MB of records, and the usual object has no more
_FEW_DAYS = 14  # a day's listing is one call; finding out which days there are walks through every year and month


def read_records(reader: ArchiveReader, since: datetime, until: datetime, told: Told) -> Iterator[ArchivedRecord]:
    """Yield the records that arrived from *since* until before *until*, in order, each once.

    What cannot be read is in *told*, and the rest goes on. Raises DependencyError when the archive cannot be reached.
    """
    return _read(reader, EVENTS, (since, until), told, parse_record, _placed)


def read_happenings(
    reader: ArchiveReader, family: str, since: datetime, until: datetime, told: Told
) -> Iterator[Happening]:
    """Yield what is told of ``incidents`` (and acts) or of ``policies``, as `read_records` does."""
    return _read(reader, family, (since, until), told, parse_happening, lambda one, _other: one)


def objects_of(reader: ArchiveReader, family: str, since: datetime, until: datetime) -> Iterator[ArchiveObject]:
    """Yield the objects that may hold lines from *since* until before *until*, by first arrival; lists day by day.

    Of a long period only days that are there: one object that a wrong clock dated may lie a century off.
    """
    utc = hour_of(since).tzinfo
    first, last = (each.astimezone(utc).date() for each in (since, until))
    if (last - first).days <= _FEW_DAYS:
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    else:
        days = [day for day in reader.days(family) if first <= day <= last]
    for day in days:
        yield from (one for one in reader.list(family, day) if hour_of(since) <= one.name.first < until)


def _read(
    reader: ArchiveReader,
    family: str,
    period: tuple[datetime, datetime],
    told: Told,
    parse: Callable[[bytes], _Entry],
    better: Callable[[_Entry, _Entry], _Entry],
) -> Iterator[_Entry]:
    def repeat() -> None:
        told.repeated += 1

    since, until = period
    sources = (
        (one.name.first, partial(_entries, reader, one.name, told, parse))
        for one in objects_of(reader, family, since, until)
    )
    for entry in merge(sources, better, repeat):
        if since <= entry[0] < until:
            yield entry


def _entries(reader: ArchiveReader, name: ObjectName, told: Told, parse: Callable[[bytes], _Entry]) -> Iterator[_Entry]:
    """Yield what is in one object, in order: lines that somebody moved by fewer than `AHEAD` places are put back."""
    told.open(name.first)
    before: Order | None = None
    for order, line, entry in _put_back(_parsed(reader, name.key, told, parse)):
        if before is not None and order < before:
            told.refuse(
                BadLine(name.key, line, "it stands far behind a later one; it is read, but may be out of order.")
            )
        before = order
        yield entry


def _put_back(parsed: Iterator[tuple[int, _Entry]]) -> Iterator[tuple[Order, int, _Entry]]:
    ahead: deque[tuple[Order, int, _Entry]] = deque()
    for number, entry in parsed:
        _put(ahead, (entry[:3], number, entry))
        if len(ahead) >= AHEAD:
            yield ahead.popleft()
    yield from ahead


def _put(ahead: deque[tuple[Order, int, _Entry]], one: tuple[Order, int, _Entry]) -> None:
    """Add *one* in its order: nearly always it is the last."""
    behind = []
    while ahead and ahead[-1][:2] > one[:2]:
        behind.append(ahead.pop())
    ahead.append(one)
    ahead.extend(reversed(behind))


def _parsed(
    reader: ArchiveReader, key: str, told: Told, parse: Callable[[bytes], _Entry]
) -> Iterator[tuple[int, _Entry]]:
    for number, line in lines_of(reader, key, told):
        if not line:
            continue
        try:
            entry = parse(line)
        except BadInputError as error:
            told.refuse(BadLine(key, number, error.message))
            continue
        told.lines += 1
        yield number, entry


def _placed(one: ArchivedRecord, other: ArchivedRecord) -> ArchivedRecord:
    """Return the one that knows where its node is: the other was written before that was found out."""
    return one if one.place else other
