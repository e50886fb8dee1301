"""Lines of one batch as objects of the archive: sorted, each once, one object an hour.

Decides what an object holds. The same lines always give the same objects, whoever packs them and how often. What one
batch holds bounds an object: six megabytes is the most that Lambda hands over.
"""

import gzip
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Protocol, TypeVar

from policies.contract.archive import Order
from policies.contract.archive_names import hour_of, object_key


class Ordered(Protocol):
    """What has its place in the archive."""

    @property
    def order(self) -> Order:
        """Where it stands; a repeat has the same."""
        ...


_Entry = TypeVar("_Entry", bound=Ordered)


def pack(
    entries: Iterable[_Entry], family: str, source: str, line_of: Callable[[_Entry], bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield key and body of each object that *entries* make; *line_of* says how one reads."""
    each_once = {entry.order: entry for entry in entries}
    ordered = sorted(each_once.values(), key=lambda entry: entry.order)
    for _hour, group in groupby(ordered, key=_hour_of):
        found = list(group)
        lines = b"".join(map(line_of, found))
        # Without a time in its head, the same lines are the same bytes.
        yield object_key(family, found[0].order[0], source, lines), gzip.compress(lines, mtime=0)


def _hour_of(entry: Ordered) -> datetime:
    return hour_of(entry.order[0])
