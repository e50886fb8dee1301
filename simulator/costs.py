"""What an account costs in GPU-hours: how long runs stood still and nodes were out of service, by what was done.

Decides from when to when that counts. A run that stands still for two incidents stands still once. It must not know
prices beyond one figure for a GPU and an hour.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from policies.contract.rungs import Rung
from policies.gpu_hours import USUAL_GPUS, Span, gpu_hours_in, gpus_or_usual
from simulator.deeds import Deed
from simulator.runs import Run, Sizes

ASSUMPTIONS = (
    "a run stands still from its suspension until it is resumed, or until its incident ends",
    "a run has a GPU for each rank that its fault or else its last heartbeat tells of, and its cluster's GPUs at most",
    "where nobody tells how many ranks a run has, it has the nodes that named it in the archive",
    f"a node whose instance type is unknown has {USUAL_GPUS} GPUs",
    "a node whose run goes on is out of service from its isolation until it, or its successor, is verified",
    "what is still open when the records end counts until then",
)
# What an act saves is known only of what happened, and no archive tells how long a run would have hung or crashed.
NOT_COUNTED = (
    "this is what acts take. A fault that nobody acts on costs nothing in it, though its run may have stood still or"
    " failed until a person came. What acting saves is not counted, nor the steps since a checkpoint that are redone"
)
_STOPS, _GOES_ON = Rung.SUSPEND_JOB.value, (Rung.CONFIRM_RESUME.value, Rung.RESUME_JOB.value)
_TAKEN, _BACK = (Rung.ISOLATE.value, Rung.FENCE_NODE.value), (Rung.RELEASE_NODE.value, Rung.VERIFY_NODE.value)


@dataclass(frozen=True)
class Cost:
    """GPU-hours: ``stopped`` of runs that stood still, ``out`` of nodes that nobody could use."""

    stopped: float = 0.0
    out: float = 0.0

    @property
    def gpu_hours(self) -> float:
        """Both together."""
        return self.stopped + self.out


def cost_of(deeds: Iterable[Deed], sizes: Sizes, end: datetime) -> Cost:
    """Return what *deeds* cost; *sizes* are those of runs, *end* is when the records do."""
    runs: dict[Run, list[tuple[Span, int]]] = {}
    nodes: dict[tuple[str, str], list[tuple[Span, int]]] = {}
    for deed in deeds:
        done = {act.rung: act.at for act in deed.acts}
        over = deed.ended_at or max(end, deed.opened_at)
        if deed.job and _STOPS in done:
            span = done[_STOPS], _first(done, _GOES_ON, over)
            runs.setdefault(Run(deed.cluster, deed.job), []).append((span, sizes.gpus(deed)))
        elif any(rung in done for rung in _TAKEN):
            span = _first(done, _TAKEN, over), _first(done, _BACK, over)
            gpus = gpus_or_usual(deed.instance_type)
            nodes.setdefault((deed.cluster, deed.instance), []).append((span, gpus))
    return Cost(sum(map(gpu_hours_in, runs.values())), sum(map(gpu_hours_in, nodes.values())))


def _first(done: Mapping[str, datetime], rungs: Iterable[str], otherwise: datetime) -> datetime:
    return next((done[rung] for rung in rungs if rung in done), otherwise)
