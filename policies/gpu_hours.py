"""What an outage costs in GPU-hours: how many GPUs a type of instance has, and how long spans of time last together.

It must not know what was lost, or prices.
"""

from collections.abc import Iterable
from datetime import datetime

from policies.contract.catalog.instances import gpus_of

USUAL_GPUS = 8  # of an instance type that nobody knows: most that train have eight
Span = tuple[datetime, datetime]


def gpus_or_usual(instance_type: str) -> int:
    """Return how many GPUs an instance of this type has, USUAL_GPUS where that is not known."""
    known = gpus_of(instance_type)
    return USUAL_GPUS if known is None else known


def gpus_of_run(instance_type: str, ranks: int | None, named: int, nodes: int | None = None) -> int:
    """Return how many GPUs a run has: one a rank, no more than its cluster of so many *nodes*, a size may be mistyped.

    Where nobody told its *ranks* it is as large as the nodes that *named* it. 0 on instances that have none.
    """
    each = gpus_or_usual(instance_type)
    if not each or not ranks:
        return max(named, 1) * each
    return min(ranks, nodes * each) if nodes else ranks


def gpu_hours_in(outages: Iterable[tuple[Span, int]]) -> float:
    """Return the GPU-hours of *outages* of one run or node, each with its GPUs.

    While two of them last, the one counts that began first; of two that began together the larger one.
    """
    seconds, reached = 0.0, None
    for (start, end), gpus in sorted(outages, key=lambda one: (one[0][0], -one[1])):
        begin = start if reached is None or start > reached else reached
        if end > begin:
            seconds += (end - begin).total_seconds() * gpus
            reached = end
    return seconds / 3600
