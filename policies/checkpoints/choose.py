"""Which checkpoint to resume from: the newest complete one, with a reason for each newer one that was refused.

Decides by listing and small reads alone; what a job's log says it saved is no evidence. Never step 0 while a complete
step exists. It must not read anything itself, nor write where to resume.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from policies.checkpoints.doubts import doubts_about
from policies.checkpoints.layouts import AUTO, LAYOUTS, find_candidates
from policies.checkpoints.listing import Tree
from policies.checkpoints.model import Candidate, Choice, Read, Refused
from policies.contract.times import format_time

MOST_LOOKED_AT = 64
"""Candidates of one choice. Older than 64 torn ones there is nothing that a person would not rather look at first."""
STILL_BEING_WRITTEN = "still being written"
_T = TypeVar("_T")


def choose(
    tree: Tree,
    *,
    now: datetime,
    layout: str = AUTO,
    quiet_seconds: float = 0.0,
    before: datetime | None = None,
    set_aside: Collection[int] = (),
) -> Generator[Read, bytes, Choice]:
    """Return the choice, asking for the reads it needs.

    *quiet_seconds*: what changed since then is left alone, it may still be written. *before*: the first evidence of
    corruption; what was written after it is refused, unless no complete step is older: then the oldest complete one
    is chosen and marked ``suspect``. *set_aside*: steps whose load failed before.
    """
    found = sorted(find_candidates(tree, layout), key=lambda each: each.step, reverse=True)
    refused: list[Refused] = []
    suspects: list[Candidate] = []
    for candidate in found[:MOST_LOOKED_AT]:
        reason = _reason_by_time(candidate, now - timedelta(seconds=quiet_seconds), quiet_seconds, set_aside)
        reason = reason or candidate.remark or (yield from _check(candidate, found))
        if not reason and before and candidate.changed_at and candidate.changed_at >= before:
            suspects.append(candidate)
            reason = f"written after the first evidence of corruption at {format_time(before)}"
        if not reason:
            chosen = Choice(candidate.step, candidate.path, candidate.layout, tuple(refused))
            return replace(chosen, doubts=doubts_about(found), seen=len(found))
        refused.append(Refused(candidate.step, candidate.path, reason, unsettled=reason == STILL_BEING_WRITTEN))
    choice = Choice(refused=tuple(refused), doubts=doubts_about(found), seen=len(found))
    return _least_suspect(choice, suspects) if suspects else choice


def run(work: Generator[Read, bytes, _T], read: Callable[[Read], bytes]) -> _T:
    """Drive *work* with *read*, which returns fewer bytes than asked where a file ends or has vanished."""
    try:
        wish = next(work)
        while True:
            wish = work.send(read(wish))
    except StopIteration as end:
        result: _T = end.value
        return result


def _check(candidate: Candidate, found: Sequence[Candidate]) -> Generator[Read, bytes, str]:
    others = [other for other in found if other is not candidate and other.layout == candidate.layout]
    return (yield from LAYOUTS[candidate.layout].check(candidate, others))


def _reason_by_time(candidate: Candidate, since: datetime, quiet_seconds: float, set_aside: Collection[int]) -> str:
    if candidate.step in set_aside:
        return "set aside: loading it failed before"
    changed_at = candidate.changed_at
    return STILL_BEING_WRITTEN if quiet_seconds > 0 and changed_at and changed_at > since else ""


def _least_suspect(choice: Choice, suspects: Sequence[Candidate]) -> Choice:
    oldest = suspects[-1]
    newer = tuple(each for each in choice.refused if each.path != oldest.path and each.step >= oldest.step)
    return replace(choice, chosen_step=oldest.step, path=oldest.path, layout=oldest.layout, refused=newer, suspect=True)
