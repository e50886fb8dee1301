"""Copies days of an archive to a folder, so that they can be read often and offline. Again, it copies what is missing.

An object never changes under its key, so one of the same size is the same. It must not know where the archive lies.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from itertools import islice

from functions.ports.archive import ArchiveObject, ArchiveReader, ArchiveWriter
from policies.contract.archive_names import FAMILIES
from policies.contract.errors import DependencyError

AT_ONCE = 8
PIECE_BYTES = 8 * 1024 * 1024


@dataclass
class Pulled:
    """Objects and bytes that were copied, and objects that were there already."""

    objects: int = 0
    size: int = 0
    there: int = 0


def pull(
    source: ArchiveReader,
    target: ArchiveReader,
    write: ArchiveWriter,
    days: Sequence[date],
    progress: Callable[[str], None],
) -> Pulled:
    """Copy *days* from *source* by *write* into *target*. DependencyError: run it again, it goes on from there."""
    done = Pulled()
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        for number, day in enumerate(days, 1):
            wanted = []
            for family in FAMILIES:
                have = {one.name.key: one.size for one in target.list(family, day)}
                listed = source.list(family, day)
                wanted += [one for one in listed if have.get(one.name.key) != one.size]
                done.there += len(listed)
            done.there -= len(wanted)
            for some in _some(wanted):
                for size in pool.map(lambda one: _copy(source, write, one), some):
                    done.objects, done.size = done.objects + 1, done.size + size
            progress(f"{day} ({number} of {len(days)}): {len(wanted)} objects copied")
    return done


def _copy(source: ArchiveReader, write: ArchiveWriter, one: ArchiveObject) -> int:
    key, pieces = one.name.key, bytearray()
    while len(pieces) < one.size:
        piece = source.read(key, len(pieces), min(PIECE_BYTES, one.size - len(pieces)))
        if not piece:
            raise DependencyError(
                f"{key} is shorter than it was listed.", hint="It has expired meanwhile; run it again."
            )
        pieces += piece
    write.put(key, bytes(pieces))
    return len(pieces)


def _some(objects: Iterable[ArchiveObject]) -> Iterator[list[ArchiveObject]]:
    """A few at a time: what is queued for the threads would all be read into memory."""
    left = iter(objects)
    while some := list(islice(left, AT_ONCE)):
        yield some
