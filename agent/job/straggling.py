"""Which rank slows the others of its node down.

Two signs. A rank whose own work takes half as long again as its peers', and a tenth of the step more: the others wait
for that long at each exchange of gradients ("about ten percent slower", MegaScale, NSDI 2024, 5.1, is what was worth a
hunt). Or a rank whose steps take a quarter longer than its peers', where ranks do not go in step; far fewer steps than
theirs are another role (an actor, a learner), no lag. At least three peers are asked, since of two nobody knows which
is right.

What cannot be seen here: that a whole node is slow, or all its ranks alike; a rank that is slow in the kernels of its
GPU while gradients are exchanged beside them, since its own time ends before; anything of ranks that tell only steps
and go in step. Pure. It must not know files or a clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from agent.job.paces import Pace, Window

LEAST_PEERS = 3
_OWN_RATIO, _OWN_SHARE = 1.5, 0.1
_STEP_RATIO, _SAME_ROLE = 1.25, 0.5


@dataclass(frozen=True, slots=True)
class Lag:
    """One rank that lags: ``seconds`` a step, ``usual`` of ``peers`` others; ``own``: those on its own, else all."""

    file: str
    own: bool
    seconds: float
    usual: float
    step_seconds: float
    peers: int


def find_lags(window: Window) -> list[Lag]:
    """Return who lags in *window*."""
    return [lag for one in window.paces if (lag := _by_own(one, window.paces) or _by_steps(one, window.paces))]


def _by_own(one: Pace, all_ranks: Sequence[Pace]) -> Lag | None:
    others = [each.own for each in all_ranks if each is not one and each.own is not None]
    if one.own is None or len(others) < LEAST_PEERS:
        return None
    usual = median(others)
    if one.own < _OWN_RATIO * usual or one.own - usual < _OWN_SHARE * one.step_seconds:
        return None
    return Lag(one.file, True, one.own, usual, one.step_seconds, len(others))  # noqa: FBT003 - a field of a record


def _by_steps(one: Pace, all_ranks: Sequence[Pace]) -> Lag | None:
    others = [each for each in all_ranks if each is not one]
    if len(others) < LEAST_PEERS or one.step < _SAME_ROLE * median(each.step for each in others):
        return None
    usual = median(each.step_seconds for each in others)
    if one.step_seconds < _STEP_RATIO * usual:
        return None
    return Lag(one.file, False, one.step_seconds, usual, one.step_seconds, len(others))  # noqa: FBT003 - as above
