"""What makes the order of steps doubtful: several runs in one place, numbers that were counted anew.

It only says so. It must not choose.
"""

import itertools
from collections.abc import Iterator, Sequence

from policies.checkpoints.layouts import LAYOUTS
from policies.checkpoints.listing import parent_of
from policies.checkpoints.model import Candidate

_MOST_NAMED = 3


def doubts_about(found: Sequence[Candidate]) -> tuple[str, ...]:
    """Return a line for each doubt about *found*, which is sorted by step, newest first."""
    return (*_several_runs(found), *_counted_anew(found))


def _several_runs(found: Sequence[Candidate]) -> Iterator[str]:
    runs = sorted({parent_of(candidate.path) or "." for candidate in found})
    if len(runs) > 1:
        named = ", ".join(runs[:_MOST_NAMED]) + (", …" if len(runs) > _MOST_NAMED else "")
        yield f"checkpoints of {len(runs)} folders are compared by step ({named}); name one run's folder to be sure"


def _counted_anew(found: Sequence[Candidate]) -> Iterator[str]:
    """Accelerate's automatic naming starts again at 0 after a load: then lower numbers are newer."""
    counted = [each for each in found if not LAYOUTS[each.layout].counts_steps and each.changed_at is not None]
    for newer, older in itertools.pairwise(counted):
        assert newer.changed_at is not None
        assert older.changed_at is not None
        if older.changed_at > newer.changed_at:
            yield f"{older.path} was written after {newer.path}: the count may have started anew"
            return
