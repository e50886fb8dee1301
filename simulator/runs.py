"""How many GPUs a run has, for what it costs that it stands still.

Decides whom to believe: the fault itself, which names the size of the run that it hit; else the run's own heartbeat
that came last; else as many nodes as named the run. A rank has one GPU, as for limits in per cent of a job
(functions/coordinate/sizing.py), and as there no run has more than its cluster: a size may be mistyped. It must not
know how long anything lasts.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from functions.ports.facts import FactKey
from policies.facts.job import JOB, ranks_of
from policies.gpu_hours import gpus_of_run
from simulator.deeds import Deed


class Run(NamedTuple):
    """A run's name: two clusters may each have one that is called so."""

    cluster: str
    job: str


@dataclass(frozen=True)
class Sizes:
    """``named`` are the instances whose events named a run, ``ranks`` what its heartbeats said last.

    ``nodes`` is how many nodes a cluster had at most.
    """

    named: Mapping[Run, Collection[str]] = field(default_factory=dict)
    ranks: Mapping[Run, int] = field(default_factory=dict)
    nodes: Mapping[str, int] = field(default_factory=dict)

    def gpus(self, deed: Deed) -> int:
        """Return how many GPUs the run has that *deed* is about."""
        run = Run(deed.cluster, deed.job)
        ranks = deed.world_size or self.ranks.get(run)
        named, nodes = len(self.named.get(run, ())), self.nodes.get(deed.cluster)
        return gpus_of_run(deed.instance_type, ranks, named, nodes)


def joined(all_of_them: Iterable[Sizes]) -> Sizes:
    """Return what they know together; no cluster is in two of them."""
    named, ranks, nodes = dict[Run, Collection[str]](), dict[Run, int](), dict[str, int]()
    for one in all_of_them:
        named |= one.named
        ranks |= one.ranks
        nodes |= one.nodes
    return Sizes(named, ranks, nodes)


def ranks_in(kept: Mapping[FactKey, tuple[datetime, str]]) -> Mapping[Run, int]:
    """Return how many ranks runs have by what is *kept* of how they go."""
    told = ((key, ranks_of(text, at)) for key, (at, text) in kept.items() if key.document == JOB.name)
    return {Run(key.cluster, key.subject): ranks for key, ranks in told if ranks}
