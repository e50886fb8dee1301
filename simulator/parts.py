"""A replay in parts: which clusters each part tells, so that several processes share the work of one.

Exact, because nothing that a replay keeps is of two clusters: states, documents, facts and books have the cluster in
their keys, findings and incidents in their ids. Every part reads every record, in the one order, and lets the time pass
by it; it judges those of its own clusters. So clock, midnights, sweeps, what is in force, what persons answered and who
was heard when are in each part what they are in the whole, and what cannot be read is told alike by all. One thing does
cross clusters: a policy that puts itself in shadow is in shadow everywhere. A part that sees it is worth nothing, nor
are its fellows.

Decides who tells what, by a look at some of the records; an unequal share costs time and nothing else. It must not know
processes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar
from zlib import crc32

from functions.ports.archive import ArchiveObject, ArchiveReader
from policies.contract.archive import parse_record
from policies.contract.archive_names import EVENTS
from policies.contract.errors import BadInputError
from policies.contract.identifiers import stable_id
from simulator.archive.reading import Told
from simulator.archive.unpacking import lines_of
from simulator.clusters import NOBODYS, cluster_of

_T = TypeVar("_T")
DAYS_LOOKED_AT, OBJECTS_A_DAY, LINES_AN_OBJECT = 4, 4, 500


@dataclass(frozen=True)
class Part:
    """The part of this ``number`` (from 0) among ``of``. ``shares`` says who tells the clusters that are known."""

    number: int = 0
    of: int = 1
    shares: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether it tells all there is."""
        return self.of == 1

    @property
    def name(self) -> str:
        """What is kept of it is kept under this name; it is another one where clusters are shared otherwise."""
        shares = stable_id("shares", *(f"{name} {number}" for name, number in sorted(self.shares.items())))[:8]
        return "" if self.is_whole else f"part-{self.number + 1}-of-{self.of}-{shares}"

    def owns(self, body: bytes) -> bool:
        """Whether this part tells the record *body*; exactly one of all does."""
        cluster = cluster_of(body)
        share = self.shares.get(cluster)
        return (crc32(cluster.encode("utf-8", "replace")) % self.of if share is None else share) == self.number


WHOLE = Part()


@dataclass(frozen=True)
class Look:
    """What a look found: about how many bytes a period has (``size``), and how much each cluster says (``weights``)."""

    size: int
    weights: Mapping[str, int]

    def parts(self, most: int) -> Sequence[Part]:
        """Return *most* parts of about the same weight, fewer where there are fewer clusters."""
        count = max(min(most, len(self.weights)), 1)
        loads = [0] * count
        shares: dict[str, int] = {}
        for cluster, weight in sorted(self.weights.items(), key=lambda one: (-one[1], one[0])):
            lightest = loads.index(min(loads))
            shares[cluster] = lightest
            loads[lightest] += weight
        return [Part(number, count, shares) for number in range(count)] if count > 1 else [WHOLE]


def look(reader: ArchiveReader, since: datetime, until: datetime) -> Look:
    """Look at some objects of some days. DependencyError when the archive cannot be reached."""
    first, last = (each.astimezone(UTC).date() for each in (since, until))
    days = [day for day in reader.days(EVENTS) if first <= day <= last]
    some = _some(days, DAYS_LOOKED_AT)
    size, weights = 0, Counter[str]()
    for day in some:
        found = reader.list(EVENTS, day)
        size += sum(one.size for one in found)
        for one in _some(found, OBJECTS_A_DAY):
            for cluster, weight in _told_in(reader, one):
                weights[cluster] += weight
    return Look(size * len(days) // max(len(some), 1), weights)


def _some(all_of_them: Sequence[_T], most: int) -> Sequence[_T]:
    """Return *most* of them, from the first on and evenly apart."""
    return all_of_them[:: -(-len(all_of_them) // most)] if all_of_them else ()


def _told_in(reader: ArchiveReader, one: ArchiveObject) -> Iterator[tuple[str, int]]:
    for _number, line in islice(lines_of(reader, one.name.key, Told()), LINES_AN_OBJECT):
        try:
            cluster = cluster_of(parse_record(line).body)
        except BadInputError:
            continue
        if cluster != NOBODYS:
            yield cluster, len(line)
