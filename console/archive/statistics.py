"""Reads an archive day by day and has it counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from console.archive.counting import Counting, DayCount
from functions.ports.archive import ArchiveReader
from policies.contract.archive import BadLine
from policies.contract.archive_names import FAMILIES, INCIDENTS, POLICIES
from policies.moments import later
from simulator.archive.period import read_happenings, read_records
from simulator.archive.reading import MOST_KEPT, Told

_DAY = timedelta(days=1)


@dataclass
class Statistics:
    """What is in some days. ``wrong`` lines and objects could not be read; ``bad`` are the first of them."""

    days: list[DayCount] = field(default_factory=list)
    wrong: int = 0
    bad: list[BadLine] = field(default_factory=list)


def count(reader: ArchiveReader, days: Sequence[date], progress: Callable[[str], None]) -> Statistics:
    """Read *days* of the archive; *progress* hears of each. Raises DependencyError when it cannot be reached."""
    counting, found = Counting(), Statistics()
    for number, day in enumerate(days, 1):
        counted = _read_day(reader, day, counting, found)
        progress(f"{day} ({number} of {len(days)}): {counted.records} records, {counted.events} events")
    counting.finish()
    found.days = [counting.days[day] for day in sorted(counting.days)]
    return found


def _read_day(reader: ArchiveReader, day: date, counting: Counting, found: Statistics) -> DayCount:
    today, since = counting.day(day), datetime.combine(day, time.min, UTC)
    until, told = later(since, _DAY), Told()
    for family in FAMILIES:
        objects = reader.list(family, day)
        today.objects += len(objects)
        today.sizes[family] += sum(one.size for one in objects)
        for one in objects:
            if one.name.first >= until:
                told.refuse(
                    BadLine(one.name.key, 0, "it begins with the calendar's last moment; nothing of it counts.")
                )
    for record in read_records(reader, since, until, told):
        counting.take(record)
    today.repeated = told.repeated
    for family in (INCIDENTS, POLICIES):
        for happening in read_happenings(reader, family, since, until, told):
            counting.happened(happening)
    found.wrong += told.wrong
    found.bad += told.bad[: MOST_KEPT - len(found.bad)]
    return today
