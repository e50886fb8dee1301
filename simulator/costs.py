"""What an account costs in GPU-hours: how long runs stood still and nodes were out of service, by what was done.

Decides from when to when that counts. A run that stands still for two incidents stands still once. It must not know
prices beyond one figure for a GPU and an hour.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from policies.contract.rungs import Rung
from policies.gpu_hours import USUAL_GPUS, Span, gpus_or_usual, hours_in
from simulator.deeds import Deed

ASSUMPTIONS = (
    "a run stands still from its suspension until it is resumed, or until its incident ends",
    f"a run has as many nodes as named it in the archive, with {USUAL_GPUS} GPUs where their instance type is unknown",
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


def cost_of(deeds: Iterable[Deed], nodes_of: Mapping[str, int], end: datetime) -> Cost:
    """Return what *deeds* cost; *nodes_of* is how many nodes a run has, *end* when the records do."""
    runs: dict[str, list[Span]] = {}
    nodes: dict[str, list[Span]] = {}
    gpus: dict[str, int] = {}
    for deed in deeds:
        done = {act.rung: act.at for act in deed.acts}
        over = deed.ended_at or max(end, deed.opened_at)
        if deed.job and _STOPS in done:
            runs.setdefault(deed.job, []).append((done[_STOPS], _first(done, _GOES_ON, over)))
            gpus[deed.job] = max(nodes_of.get(deed.job, 1), 1) * gpus_or_usual(deed.instance_type)
        elif any(rung in done for rung in _TAKEN):
            nodes.setdefault(deed.instance, []).append((_first(done, _TAKEN, over), _first(done, _BACK, over)))
            gpus[deed.instance] = gpus_or_usual(deed.instance_type)
    return Cost(
        sum(hours_in(spans) * gpus[job] for job, spans in runs.items()),
        sum(hours_in(spans) * gpus[node] for node, spans in nodes.items()),
    )


def _first(done: Mapping[str, datetime], rungs: Iterable[str], otherwise: datetime) -> datetime:
    return next((done[rung] for rung in rungs if rung in done), otherwise)
