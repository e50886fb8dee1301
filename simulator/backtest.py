"""A back-test: the past under other policies, beside what was done or what today's policies would do.

Decides what is read and what is run, and puts the account together. It must not know where an archive lies, what is
printed, or a clock.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Literal

from functions.ports.archive import ArchiveReader
from functions.ports.policies import Head
from policies.contract.archive import ArchivedRecord, BadLine, Happening
from policies.contract.archive_names import EVENTS, INCIDENTS, POLICIES
from policies.contract.errors import BadInputError
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time
from policies.contract.vocabulary import Orchestrator
from simulator import checkpoint
from simulator.archive.period import read_happenings, read_records
from simulator.archive.reading import Told
from simulator.costs import Cost, cost_of
from simulator.deeds import Deed, Matter, compare, deed_of
from simulator.in_force import Revisions
from simulator.recorded import Recorded
from simulator.replay import Question, Replay

Against = Literal["archive", "current"]
Progress = Callable[[str, float], None]
"""Hears which run is under way, and the share (0 to 1) of the period that is behind it."""
TOLD_EVERY = 2_000
# What befell nodes before a period is told as well, and is no news of it: a count that stood at two of three, a policy
# that has just acted, a node that was given up. The longest windows of shipped policies have a day.
RUN_UP = timedelta(days=1)
_DAY = timedelta(days=1)
_LAST_DAY = date.max - 3 * _DAY


@dataclass(frozen=True)
class Asked:
    """What is to be found out. ``candidate`` None: the policies as they were in force at each moment."""

    reader: ArchiveReader
    address: str
    candidate: Sequence[Head] | None = None
    against: Against = "archive"
    since: datetime | None = None
    until: datetime | None = None
    orchestrator: Orchestrator = Orchestrator.EKS
    time_scale: float = 1.0
    resume: Path | None = None


@dataclass(frozen=True)
class Account:
    """What one side comes to. ``remarks`` are what went wrong on the way, with how often."""

    deeds: Sequence[Deed]
    cost: Cost
    counts: Mapping[str, int] = field(default_factory=dict)
    remarks: Mapping[str, int] = field(default_factory=dict)
    assumed: int = 0


@dataclass(frozen=True)
class Report:
    """Both sides of a period, and what could not be read."""

    since: datetime
    until: datetime
    before: Account
    after: Account
    matters: Sequence[Matter]
    told: Told
    unreadable: int = 0

    @property
    def new_acts(self) -> int:
        """In how many matters more would be done than was."""
        return sum(bool(each.new_acts) for each in self.matters)


@dataclass(frozen=True)
class Past:
    """What the archive holds of a period beside its records. ``told`` is of reading that."""

    since: datetime
    until: datetime
    revisions: Revisions
    recorded: Recorded
    told: Told = field(default_factory=Told)


def read_past(asked: Asked) -> Past:
    """Return what happened in the period; BadInputError when the archive has no events."""
    days = asked.reader.days(EVENTS)
    if not days:
        raise BadInputError(f"{asked.address} holds no events.", hint="Name the folder above events/, or the bucket.")
    since = asked.since or datetime.combine(days[0], time(), UTC)
    until = asked.until or _end_of(days[-1])
    if until <= since:
        raise BadInputError("the period ends before it begins.", hint="Give --from and --to, in UTC.")
    told = Told()
    return Past(
        since,
        until,
        Revisions.of(_happenings(asked.reader, POLICIES, until, told)),
        Recorded.of(_happenings(asked.reader, INCIDENTS, None, told)),
        told,
    )


def _happenings(reader: ArchiveReader, family: str, until: datetime | None, told: Told) -> Iterator[Happening]:
    """Yield all there is until then: what was in force at the beginning was put into force long before."""
    days = reader.days(family)
    if not days:
        return iter(())
    end = _end_of(days[-1])
    return read_happenings(reader, family, datetime.combine(days[0], time(), UTC), min(until or end, end), told)


def _end_of(day: date) -> datetime:
    """Return when *day* is over; of the calendar's last ones, when there are two left for what comes of its records."""
    return datetime.combine(min(day, _LAST_DAY), time(), UTC) + _DAY


def backtest(asked: Asked, past: Past, progress: Progress = lambda _name, _share: None) -> Report:
    """Return both accounts of the period."""
    if asked.candidate is None and not past.revisions.changes:
        raise BadInputError(
            f"{asked.address} says nothing of policies.", hint="Name some: --policies DIR (policies/shipped, say)."
        )
    told = Told()
    after, end = _replayed(asked, past, asked.candidate, "asked", told, progress)
    if asked.against == "current":
        before, _end = _replayed(asked, past, past.revisions.newest(), "current", Told(), progress)
    else:
        before = _as_it_was(past, after.nodes_of, end)
    told.join(past.told)
    return Report(
        past.since,
        past.until,
        before.account,
        after.account,
        compare(before.account.deeds, after.account.deeds),
        told,
        past.recorded.unreadable + past.revisions.unreadable,
    )


@dataclass(frozen=True)
class _Side:
    account: Account
    nodes_of: Mapping[str, int]


def _as_it_was(past: Past, nodes_of: Mapping[str, int], end: datetime) -> _Side:
    deeds = [deed_of(each) for each in past.recorded.incidents() if past.since <= each.opened_at < past.until]
    return _Side(Account(deeds, cost_of(deeds, nodes_of, end)), nodes_of)


def _replayed(
    asked: Asked, past: Past, candidate: Sequence[Head] | None, name: str, told: Told, progress: Progress
) -> tuple[_Side, datetime]:
    question = Question(past.revisions, past.recorded, candidate, asked.orchestrator, asked.time_scale)
    replay = Replay(question)
    folder = asked.resume / name if asked.resume else None
    mark = _fingerprint(asked, past, candidate)
    begin = past.since - min(RUN_UP, past.since - datetime.min.replace(tzinfo=UTC))
    if folder and (kept := checkpoint.load(replay, folder, mark)) is not None:
        _restore(told, kept)
        begin = replay.clock or begin

    def at_midnight(_day: datetime) -> None:
        if folder:
            checkpoint.save(replay, folder, mark, **asdict(told))

    records = read_records(asked.reader, begin, past.until, told)
    counted = _of_the_period(records, past.since, replay.nodes.counts) if begin < past.since else records
    replay.run(_watched(counted, name, past, progress), at_midnight=at_midnight)
    end = replay.clock or past.since
    deeds = [deed for each in replay.finish() if (deed := deed_of(each)).opened_at >= past.since]
    nodes_of = {job: len(instances) for job, instances in replay.nodes.runs.items()}
    remarks = {**replay.telemetry.told, **{f"{each} is not in the archive": 1 for each in replay.in_force.missing}}
    account = Account(
        deeds, cost_of(deeds, nodes_of, end), replay.nodes.counts, remarks, assumed=replay.rehearsal.assumed
    )
    progress(name, 1.0)
    return _Side(account, nodes_of), end


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


def _watched(records: Iterator[ArchivedRecord], name: str, past: Past, progress: Progress) -> Iterator[ArchivedRecord]:
    whole = (past.until - past.since).total_seconds()
    for number, record in enumerate(records):
        if number % TOLD_EVERY == 0:
            progress(name, max(0.0, (record.arrived_at - past.since).total_seconds() / whole))
        yield record


def _fingerprint(asked: Asked, past: Past, candidate: Sequence[Head] | None) -> str:
    """Return what tells this question from others: a kept replay goes on only with the same one."""
    heads = (
        ["as recorded"]
        if candidate is None
        else [f"{one.name}:{one.revision}:{one.hash}:{one.mode}" for one in candidate]
    )
    period = (format_time(past.since), format_time(past.until))
    return stable_id("back-test", asked.address, *period, asked.orchestrator, asked.time_scale, *sorted(heads))


def _restore(told: Told, kept: Mapping[str, object]) -> None:
    for each in fields(Told):
        if each.name == "bad":
            told.bad = [BadLine(*one) for one in kept.get("bad", ())]  # type: ignore[attr-defined]
        else:
            setattr(told, each.name, kept.get(each.name, 0))
