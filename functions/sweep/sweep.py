"""The minute's look at every open incident, at the pipeline and at nodes that fell silent.

It asks coordinate to go through the incidents, sends the canary, and has the signs of life looked through; last, with
what time is left, what each cluster could still get. Twice in one minute is the same as once: all that is sent has ids
made of what it is about. It must not look at an incident itself.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

from functions.ports.faults import FaultsLane
from functions.ports.sweeps import Sweeps
from functions.settings import ClusterSettings
from functions.sweep.canaries import canary
from functions.sweep.capacity_look import CapacityLook
from functions.sweep.look import Lookout
from policies.contract.decisions import SweepMessage
from policies.contract.errors import DependencyError


def sweep(
    *,
    clusters: Sequence[ClusterSettings],
    sweeps: Sweeps,
    faults: FaultsLane,
    lookout: Lookout,
    capacity: CapacityLook,
    clock: Callable[[], datetime],
) -> None:
    """Send a sweep and a canary for each of *clusters*, then look for silent nodes and for what could replace them.

    One that fails stops no other; DependencyError at the end.
    """
    now = clock()
    names = [cluster.name for cluster in clusters]
    failures = [
        *_try(partial(sweeps.send, SweepMessage(cluster=name, at=now)) for name in names),
        *_try([partial(faults.put, [canary(name, now) for name in names])]),
        *_try(partial(lookout.look, cluster, now) for cluster in clusters),
        *_try([partial(capacity.look, clusters, now)]),
    ]
    if failures:
        raise DependencyError(
            f"{len(failures)} of {2 * len(clusters) + 2} parts failed, the first: {failures[0]}",
            hint="Lambda tries again twice; the next minute does too.",
        )


def _try(parts: Iterable[Callable[[], object]]) -> list[DependencyError]:
    failures = []
    for part in parts:
        try:
            part()
        except DependencyError as error:
            failures.append(error)
    return failures
