"""A push that is rehearsed before anything is written: the last days of an archive, with and without the edit.

Decides what is compared: the policies in force now, and the same with what the push would write. So what differs comes
of the edit alone. What is in force the table knows better than an archive, which may be younger than a policy. It must
not know where an archive lies.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from console.backtest.screen import Shown, print_report
from console.policy.planning import Planned
from console.policy.pushing import Gate
from console.saying import say
from functions.ports.archive import ArchiveReader
from functions.ports.policies import Head
from policies.contract.vocabulary import Orchestrator, PolicyMode
from policies.moments import earlier
from simulator.backtest import Asked, Progress, backtest, read_past
from simulator.in_force import Revisions
from simulator.workers import Opener


@dataclass(frozen=True)
class Rehearsal:
    """Which archive is told again, how many ``days`` of it, and in how many incidents ``most`` it may act anew.

    ``jobs``, ``small`` and ``opener``: see `Asked`.
    """

    reader: ArchiveReader
    address: str
    days: int
    most: int
    price: float
    orchestrator: Orchestrator = Orchestrator.EKS
    time_scale: float = 1.0
    jobs: int = 1
    small: int = 0
    opener: Opener | None = None


def gate_of(
    rehearsal: Rehearsal, watched: Callable[[], AbstractContextManager[Progress]], clock: Callable[[], datetime]
) -> Gate:
    """Return what refuses a push that would act in more incidents of these days than the policies in force."""

    def gate(planned: Sequence[Planned]) -> str:
        if not any(each.writes for each in planned):
            say("Nothing changes, so nothing was told again (--backtest).")
            return ""
        until = clock()
        asked = Asked(
            rehearsal.reader,
            rehearsal.address,
            against="current",
            since=earlier(until, timedelta(days=rehearsal.days)),
            until=until,
            orchestrator=rehearsal.orchestrator,
            time_scale=rehearsal.time_scale,
            jobs=rehearsal.jobs,
            small=rehearsal.small,
            opener=rehearsal.opener,
        )
        past = read_past(asked)
        there = [each.head for each in planned if each.head is not None]
        past = replace(past, revisions=past.revisions.with_heads(there, until))
        asked = replace(asked, candidate=_with(planned, past.revisions))
        with watched() as progress:
            report = backtest(asked, past, progress)
        print_report(report, Shown(rehearsal.price, most_new_acts=rehearsal.most))
        if report.new_acts <= rehearsal.most:
            return ""
        return (
            f"in the last {rehearsal.days} days it would have acted in {report.new_acts} incidents in which the"
            f" policies in force do less; {rehearsal.most} are allowed (--most-new-acts)."
        )

    return gate


def _with(planned: Sequence[Planned], revisions: Revisions) -> list[Head]:
    """Return what would be in force: the newest of the archive, and over it what is *planned*."""
    heads = {head.name: head for head in revisions.newest()}
    for each in planned:
        heads[each.name] = revisions.head_of(each.document, PolicyMode(each.document["mode"]))
    return list(heads.values())
