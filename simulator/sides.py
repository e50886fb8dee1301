"""One side of a back-test: the records of a period under some policies, told whole or in parts that are put together.

Decides what comes of the records, and how a replay that is kept goes on. What parts come to, put together, is what the
whole would come to (`simulator/parts.py` says why). It must not know processes or what the other side is.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from functions.ports.archive import ArchiveReader
from policies.contract.archive import ArchivedRecord
from policies.contract.errors import BadInputError
from policies.moments import earlier
from simulator import checkpoint
from simulator.archive.behind import Behind
from simulator.archive.period import read_records
from simulator.archive.reading import Told
from simulator.deeds import Deed, deed_of
from simulator.nodes import COUNTED
from simulator.parts import WHOLE, Part, look
from simulator.replay import Question, Replay
from simulator.runs import Sizes, joined, ranks_in

Share = Callable[[float], None]
"""Hears which share (0 to 1) of the period is behind."""
TOLD_EVERY = 2_000
# What befell nodes before a period is told as well, and is no news of it: a count that stood at two of three, a policy
# that has just acted, a node that was given up. The longest windows of shipped policies have a day.
RUN_UP = timedelta(days=1)


@dataclass(frozen=True)
class Side:
    """What is asked: ``mark`` tells it from others, and in ``folder``, if it is given, the replay is kept."""

    name: str
    question: Question
    since: datetime
    until: datetime
    mark: str
    folder: Path | None = None

    def kept_in(self, part: Part) -> Path | None:
        """Return where *part* is kept."""
        return self.folder / part.name if self.folder else None

    @property
    def goes_on_whole(self) -> bool:
        """Whether it was begun in one process: whatever that met, the rest of it is told in one as well."""
        return self.folder is not None and checkpoint.is_kept(self.folder)


@dataclass(frozen=True)
class Piece:
    """What comes of a part of the records, or of all.

    ``sizes`` are those of runs, ``remarks`` how often what was to be remarked about clusters, ``on_policies`` what
    about policies, ``assumed`` how many rungs nobody saw, ``end`` when the records do.
    """

    deeds: Sequence[Deed]
    sizes: Sizes
    counts: Mapping[str, int]
    remarks: Mapping[str, int]
    on_policies: Collection[str]
    assumed: int
    end: datetime
    told: Told


def shared_out(
    reader: ArchiveReader, sides: Sequence[Side], jobs: int, *, small: int = 0
) -> Mapping[str, tuple[Side, Sequence[Part]]]:
    """Return each of *sides*, by name, with the parts that *jobs* processes tell of it; nothing where one is enough.

    Sides come before clusters: each is a replay of its own. An archive of fewer than *small* bytes is worth no process.
    """
    if jobs < 2:  # noqa: PLR2004 - nobody to share with
        return {}
    found = look(reader, sides[0].since, sides[0].until)
    parts = found.parts(jobs // len(sides))
    shared = {side.name: (side, [WHOLE] if side.goes_on_whole else parts) for side in sides}
    is_shared = sum(len(mine) for _side, mine in shared.values()) > 1
    return shared if is_shared and found.size >= small else {}


def replay_part(side: Side, part: Part, reader: ArchiveReader, share: Share) -> Piece | None:
    """Return what comes of *part*; None when that cannot be told: a policy put itself in shadow, which is so for all.

    Raises:
        DependencyError: the archive cannot be reached.
        BadInputError: what is kept is of another question or archive, or damaged.
    """
    replay, told = Replay(side.question), Told()
    begin = earlier(side.since, RUN_UP)
    folder, mark = side.kept_in(part), side.mark + part.name
    behind = Behind(reader, begin)

    def known_at(midnight: datetime) -> str:
        return f"{behind.at(midnight)} {side.question.recorded.under_way(midnight)}"

    if folder and (kept := checkpoint.load(replay, folder, mark)) is not None:
        begin = replay.clock or begin
        if kept.pop("behind", "") != known_at(begin):
            raise BadInputError(
                f"the archive has changed since {folder} was kept: what was told already would be another.",
                hint="Name another folder, or remove it, and begin from the start.",
            )
        told.restore(kept)

    def is_in_vain() -> bool:
        return not part.is_whole and bool(replay.in_force.switches.shadows)

    def at_midnight(midnight: datetime) -> None:
        if folder:
            checkpoint.save(replay, folder, mark, behind=known_at(midnight), **told.until(midnight))

    records = read_records(reader, begin, side.until, told)
    if begin < side.since:
        records = _of_the_period(records, side.since, replay.nodes.counts)
    watched = _watched(records, side, share, is_in_vain)
    replay.run(watched, at_midnight=at_midnight, is_mine=None if part.is_whole else part.owns)
    if is_in_vain():
        return None
    end = replay.clock or side.since
    known_until = side.question.recorded.known_until
    deeds = [deed_of(each, known_until(each, end)) for each in replay.finish() if each.opened_at >= side.since]
    return None if is_in_vain() else _piece(replay, deeds, end, told)


def _piece(replay: Replay, deeds: Sequence[Deed], end: datetime, told: Told) -> Piece:
    missing = (f"{each} is not in the archive" for each in replay.in_force.missing)
    on_policies = {*missing, *(text for texts in replay.on_policies.told.values() for text in texts)}
    remarks = sum(replay.telemetry.told.values(), Counter[str]())
    nodes = replay.nodes
    counts = {**dict.fromkeys(COUNTED, 0), **nodes.counts}
    sizes = Sizes(nodes.runs, ranks_in(replay.facts.kept), nodes.sizes_of_clusters())
    return Piece(deeds, sizes, counts, remarks, on_policies, replay.rehearsal.assumed, end, told)


def put_together(pieces: Sequence[Piece]) -> Piece:
    """Return what all parts of one side come to together, in an order that does not tell how many there were."""
    first = pieces[0]
    deeds = [deed for piece in pieces for deed in piece.deeds]
    return Piece(
        sorted(deeds, key=lambda deed: (deed.opened_at, deed.incident, deed.cluster)),
        joined(piece.sizes for piece in pieces),
        _summed([piece.counts for piece in pieces]),
        _summed([piece.remarks for piece in pieces]),
        sorted(first.on_policies),
        sum(piece.assumed for piece in pieces),
        first.end,
        first.told,
    )


def _summed(counts: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for each in counts:
        for name, times in each.items():
            found[name] = found.get(name, 0) + times
    return dict(sorted(found.items()))


def _of_the_period(
    records: Iterator[ArchivedRecord], since: datetime, counts: Counter[str]
) -> Iterator[ArchivedRecord]:
    """Yield *records*, and have nothing *counts* that came before the period."""
    before = True
    for record in records:
        if before and record.arrived_at >= since:
            before = False
            counts.clear()
        yield record
    if before:
        counts.clear()


def _watched(
    records: Iterator[ArchivedRecord], side: Side, share: Share, is_in_vain: Callable[[], bool]
) -> Iterator[ArchivedRecord]:
    whole = (side.until - side.since).total_seconds()
    for number, record in enumerate(records):
        if number % TOLD_EVERY == 0:
            if is_in_vain():
                return
            share(max(0.0, (record.arrived_at - side.since).total_seconds() / whole))
        yield record
