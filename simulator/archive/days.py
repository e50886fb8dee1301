"""Which days an archive is of: those that lie together.

Decides which days a wrong clock, or a hand, has dated off the rest. It must not know what is in an object.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from functions.ports.archive import ArchiveReader
from policies.contract.archive_names import FAMILIES

STRAY_AFTER = timedelta(days=366)


def usual_and_stray(reader: ArchiveReader) -> tuple[Sequence[date], Sequence[date]]:
    """Return the days of the archive, oldest first, apart from those that lie more than a year off from most of it.

    A wrong clock, or a hand, dates a document years off. It must not become the beginning or the end of an archive:
    nothing would be near it.
    """
    there = Counter(day for family in FAMILIES for day in reader.days(family))
    groups: list[list[date]] = []
    for day in sorted(there):
        if not groups or day - groups[-1][-1] > STRAY_AFTER:
            groups.append([])
        groups[-1].append(day)
    most = max((sum(there[day] for day in days) for days in groups), default=0)
    alike = [days for days in groups if sum(there[day] for day in days) == most]
    usual = alike[0] if len(alike) == 1 else max(alike, key=lambda days: _size(reader, days), default=[])
    return usual, sorted(set(there) - set(usual))


def _size(reader: ArchiveReader, days: Sequence[date]) -> int:
    return sum(one.size for day in days for family in FAMILIES for one in reader.list(family, day))
