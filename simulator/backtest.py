"""A back-test: the past under other policies, beside what was done or what today's policies would do.

Decides what is read and what is run, and puts the account together. It must not know where an archive lies, what is
printed, or a clock.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from functions.ports.archive import ArchiveReader
from functions.ports.policies import Head
from policies.contract.archive import Happening
from policies.contract.archive_names import EVENTS, INCIDENTS, POLICIES
from policies.contract.errors import BadInputError
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time
from policies.contract.vocabulary import Orchestrator
from policies.moments import earlier
from simulator.archive.days import usual_and_stray
from simulator.archive.period import read_happenings
from simulator.archive.reading import Told
from simulator.costs import Cost, cost_of
from simulator.deeds import Deed, Matter, compare, deed_of
from simulator.in_force import Revisions
from simulator.parts import WHOLE
from simulator.recorded import Recorded
from simulator.replay import Question
from simulator.sides import Piece, Side, put_together, replay_part, shared_out
from simulator.workers import Opener, replay_side_by_side

Against = Literal["archive", "current"]
Progress = Callable[[str, float], None]
"""Hears which run is under way, and the share (0 to 1) of the period that is behind it."""
_AGAIN = "a policy put itself in shadow ({}), which is so in all clusters: they were told again in one process"
_STRAY = "what arrived on {} lies more than a year off the rest and is left out: --from and --to take it in"
_NOT_YET = (
    "{} incidents are left out, opened in the last minutes of the records: the archive does not tell of them yet, since"
    " each of its lanes is some minutes late by itself"
)
LANES_APART = timedelta(minutes=5)  # archive_window_seconds at most (infra/settings.py)
_DAY = timedelta(days=1)
_LAST_DAY = date.max - 3 * _DAY


@dataclass(frozen=True)
class Asked:
    """What is to be found out. ``candidate`` None: the policies as they were in force at each moment.

    ``jobs`` is how many processes may share the work; an archive of fewer than ``small`` bytes is told in one. There
    the archive is opened by ``opener``; None: ``reader`` itself goes there, which holds no connection.
    """

    reader: ArchiveReader
    address: str
    candidate: Sequence[Head] | None = None
    against: Against = "archive"
    since: datetime | None = None
    until: datetime | None = None
    orchestrator: Orchestrator = Orchestrator.EKS
    time_scale: float = 1.0
    resume: Path | None = None
    jobs: int = 1
    small: int = 0
    opener: Opener | None = None


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
    """Both sides of a period, and what could not be read. ``notes`` are on how it was found out, not on what."""

    since: datetime
    until: datetime
    before: Account
    after: Account
    matters: Sequence[Matter]
    told: Told
    unreadable: int = 0
    notes: Sequence[str] = field(default=(), compare=False)

    @property
    def new_acts(self) -> int:
        """In how many matters more would be done than was."""
        return sum(bool(each.new_acts) for each in self.matters)


@dataclass(frozen=True)
class Past:
    """What the archive holds of a period beside its records. ``told`` is of reading that, ``notes`` of the period."""

    since: datetime
    until: datetime
    revisions: Revisions
    recorded: Recorded
    told: Told = field(default_factory=Told)
    notes: Sequence[str] = ()


def read_past(asked: Asked) -> Past:
    """Return what happened in the period; BadInputError when the archive has no events."""
    days, strays = _days(asked.reader)
    if not days:
        raise BadInputError(f"{asked.address} holds no events.", hint="Name the folder above events/, or the bucket.")
    since, until = _period(asked, days)
    told = Told()
    return Past(
        since,
        until,
        Revisions.of(_happenings(asked.reader, POLICIES, until, told)),
        Recorded.of(_happenings(asked.reader, INCIDENTS, None, told)),
        told,
        [_STRAY.format(day) for day in strays if not since.date() <= day <= until.date()],
    )


def _period(asked: Asked, days: Sequence[date]) -> tuple[datetime, datetime]:
    """Return from when to when; BadInputError where that is no time, or none of the archive's."""
    first, last = datetime.combine(days[0], time(), UTC), _end_of(days[-1])
    since, until = asked.since or first, asked.until or last
    if until > since:
        return since, until
    there = f"{asked.address} has records from {days[0]} to {days[-1]} (UTC)"
    if asked.since and asked.until:
        raise BadInputError("the period ends before it begins.", hint="Give --from and --to, in UTC.")
    if asked.since:
        raise BadInputError(f"there is nothing from {format_time(since)} on.", hint=f"{there}: give an earlier --from.")
    raise BadInputError(f"there is nothing before {format_time(until)}.", hint=f"{there}: give a later --to.")


def _days(reader: ArchiveReader) -> tuple[Sequence[date], Sequence[date]]:
    """Return the days of which there are events, and apart from them those that lie years off."""
    there = reader.days(EVENTS)
    _usual, strays = usual_and_stray(reader)
    days = [day for day in there if day not in strays]
    return (days, [day for day in there if day in strays]) if days else (there, [])


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
    """Return both accounts of the period: the same ones, whatever ``jobs`` it has.

    Raises:
        BadInputError: the archive says nothing of policies, or what is kept is of another question.
        DependencyError: the archive cannot be reached.
        WorkerError: a process of several is gone, killed for want of memory perhaps.
    """
    if asked.candidate is None and not past.revisions.changes:
        raise BadInputError(
            f"{asked.address} says nothing of policies.", hint="Name some: --policies DIR (policies/shipped, say)."
        )
    sides = [_side(asked, past, "asked", asked.candidate)]
    if asked.against == "current":
        sides.append(_side(asked, past, "current", past.revisions.newest()))
    found, notes = _told(asked, past, sides, progress)
    after = found["asked"]
    if asked.candidate is None and "current" not in found:
        after, late = _without_what_is_to_come(past, after)
        notes = [*notes, *late]
    before = _account(found["current"]) if "current" in found else _as_it_was(past, after)
    after.told.join(past.told)
    account = _account(after)
    return Report(
        past.since,
        past.until,
        before,
        account,
        compare(before.deeds, account.deeds),
        after.told,
        past.recorded.unreadable + past.revisions.unreadable,
        [*past.notes, *notes],
    )


def _told(
    asked: Asked, past: Past, sides: Sequence[Side], progress: Progress
) -> tuple[Mapping[str, Piece], Sequence[str]]:
    """Return what comes of each of *sides*, and what is to be said of how that was found out."""
    work = shared_out(asked.reader, sides, asked.jobs, small=asked.small)
    if work:
        past.recorded.answers()  # once, for all of them, and what cannot be read is known here
        pieces, again = replay_side_by_side(work, asked.opener or partial(_the_same, asked.reader), progress)
    else:
        pieces, again = {each.name: [_whole(asked, each, progress)] for each in sides}, []
    return {name: put_together(mine) for name, mine in pieces.items()}, [_AGAIN.format(name) for name in again]


def _whole(asked: Asked, side: Side, progress: Progress) -> Piece:
    piece = replay_part(side, WHOLE, asked.reader, partial(progress, side.name))
    assert piece is not None, "only parts can be worth nothing"
    progress(side.name, 1.0)
    return piece


def _the_same(reader: ArchiveReader) -> ArchiveReader:
    return reader


def _side(asked: Asked, past: Past, name: str, candidate: Sequence[Head] | None) -> Side:
    question = Question(past.revisions, past.recorded, candidate, asked.orchestrator, asked.time_scale)
    folder = asked.resume / name if asked.resume else None
    return Side(name, question, past.since, past.until, _fingerprint(asked, past, candidate), folder)


def _account(found: Piece) -> Account:
    often = sorted(found.remarks.items(), key=lambda one: (-one[1], one[0]))
    remarks = {**dict.fromkeys(found.on_policies, 1), **dict(often)}
    cost = cost_of(found.deeds, found.sizes, found.end)
    return Account(found.deeds, cost, found.counts, remarks, assumed=found.assumed)


def _as_it_was(past: Past, after: Piece) -> Account:
    deeds = [deed_of(each) for each in past.recorded.incidents() if past.since <= each.opened_at < past.until]
    return Account(deeds, cost_of(deeds, after.sizes, after.end))


def _without_what_is_to_come(past: Past, after: Piece) -> tuple[Piece, Sequence[str]]:
    """Return *after*, told under the very policies of then, without what its lane of the archive does not tell yet."""
    until = past.recorded.until
    if until is None or until < past.since:  # there is no such lane, or nobody knows how late it is
        return after, []
    known = max(until, earlier(after.end, LANES_APART))
    deeds = [deed for deed in after.deeds if deed.opened_at <= known]
    late = len(after.deeds) - len(deeds)
    return replace(after, deeds=deeds), [_NOT_YET.format(late)] if late else []


def _fingerprint(asked: Asked, past: Past, candidate: Sequence[Head] | None) -> str:
    """Return what tells this question from others: a kept replay goes on only with the same one."""
    heads = (
        ["as recorded"]
        if candidate is None
        else [f"{one.name}:{one.revision}:{one.hash}:{one.mode}" for one in candidate]
    )
    period = (format_time(past.since), format_time(past.until))
    return stable_id("back-test", asked.address, *period, asked.orchestrator, asked.time_scale, *sorted(heads))
