"""What an account costs in GPU-hours: how long runs stood still and nodes were out of service, by what was done.

Decides from when to when that counts. A run that stands still for two incidents stands still once. It must not know
prices beyond one figure for a GPU and an hour.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from policies.contract.rungs import Rung
from simulator.deeds import Deed

# GPUs of an instance type: EC2's specifications of accelerated computing instances (docs.aws.amazon.com/ec2).
_GPUS: Mapping[str, int] = {
    "p6e-gb200.36xlarge": 4,
    "p5.4xlarge": 1,
    "g6.xlarge": 1,
    "g6e.xlarge": 1,
    "g5.xlarge": 1,
    "g5.12xlarge": 4,
    "g6.12xlarge": 4,
    "g6e.12xlarge": 4,
}
USUAL_GPUS = 8  # p4d, p4de, p5, p5e, p5en, p6-b200, p6-b300: all 48xlarge have eight
ASSUMPTIONS = (
    "a run stands still from its suspension until it is resumed, or until its incident ends",
    "a run has as many nodes as named it in the archive, each with the GPUs of its instance type (8 if it is unknown)",
    "a node whose run goes on is out of service from its isolation until it, or its successor, is verified",
    "what is still open when the records end counts until then",
)
_STOPS, _GOES_ON = Rung.SUSPEND_JOB.value, (Rung.CONFIRM_RESUME.value, Rung.RESUME_JOB.value)
_TAKEN, _BACK = (Rung.ISOLATE.value, Rung.FENCE_NODE.value), (Rung.RELEASE_NODE.value, Rung.VERIFY_NODE.value)
Span = tuple[datetime, datetime]


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
            gpus[deed.job] = max(nodes_of.get(deed.job, 1), 1) * gpus_of(deed.instance_type)
        elif any(rung in done for rung in _TAKEN):
            nodes.setdefault(deed.instance, []).append((_first(done, _TAKEN, over), _first(done, _BACK, over)))
            gpus[deed.instance] = gpus_of(deed.instance_type)
    return Cost(
        sum(_hours(spans) * gpus[job] for job, spans in runs.items()),
        sum(_hours(spans) * gpus[node] for node, spans in nodes.items()),
    )


def gpus_of(instance_type: str) -> int:
    """Return how many GPUs an instance of this type has."""
    return _GPUS.get(instance_type, USUAL_GPUS)


def _first(done: Mapping[str, datetime], rungs: Iterable[str], otherwise: datetime) -> datetime:
    return next((done[rung] for rung in rungs if rung in done), otherwise)


def _hours(spans: Iterable[Span]) -> float:
    """Return how long at least one of *spans* lasts."""
    seconds, reached = 0.0, None
    for start, end in sorted(spans):
        begin = start if reached is None or start > reached else reached
        if end > begin:
            seconds += (end - begin).total_seconds()
            reached = end
    return seconds / 3600
