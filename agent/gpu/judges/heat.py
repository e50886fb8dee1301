"""A GPU, or its memory, as hot as the vendor lets it get.

Since Hopper the driver tells how far it is below its limit (T.Limit), and from which margin the hardware slows it down
(a small negative number); before, temperatures in degrees and the threshold of the slowdown. Memory has a maximum of
its own. It must last 30 seconds: a single reading may be of a moment. It must not know clocks.
"""

from collections.abc import Iterable, Iterator

from agent.gpu.nvml.snapshot import Detail, Gpu
from agent.gpu.parts import gpu_part, unread
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Holds, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

_AFTER, _CLEARED_AFTER = 30.0, 60.0


def judge_heat(gpus: Iterable[Gpu]) -> list[Reading]:
    """Judge the temperatures of a close look."""
    return [reading for gpu in gpus if gpu.detail for reading in _judge(gpu, gpu.detail)]


def _judge(gpu: Gpu, detail: Detail) -> Iterator[Reading]:
    core = _core_is_hot(detail)
    if core is None:
        yield unread(gpu, Kind.GPU_OVERHEATED)
    elif core:
        said = known(temperature=detail.temperature, margin=detail.margin)
        yield _hot(gpu, "core", said)
    temperature, limit = detail.memory_temperature, detail.memory_limit
    if temperature is not None and limit is not None and temperature >= limit:
        yield _hot(gpu, "memory", known(temperature=temperature, limit=limit))


def _core_is_hot(detail: Detail) -> bool | None:
    if detail.margin is not None and detail.slowdown_margin is not None:
        return detail.margin <= detail.slowdown_margin
    if detail.temperature is not None and detail.slowdown_temperature is not None:
        return detail.temperature >= detail.slowdown_temperature
    return None


def _hot(gpu: Gpu, part: str, values: dict[str, Scalar]) -> Holds:
    sighting = Sighting(Kind.GPU_OVERHEATED, Severity.ERROR, gpu_part(gpu), {"reason": part, **values})
    told = ", ".join(f"{name} {value}" for name, value in values.items())
    return Holds(
        sighting, f"GPU {gpu.index}: its {part} is too hot ({told})", after=_AFTER, cleared_after=_CLEARED_AFTER
    )
