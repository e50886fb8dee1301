"""The PCIe link of a GPU: narrower, slower, or repeating itself.

- Width never changes while all is well. Compared with the most that device and slot can do, but for the instance types
  whose slots are narrower than the card by design (the G family): there with what it was, and with its siblings.
- Generation: an idle GPU lowers it to save power, so only a busy one is judged.
- Replays: up to 8 a minute are well (DCGM, dcgm_gpu_hardware_limits.h: "the maximum recommended by RM").

Memory, for each GPU: the best width seen, and the replay counter a minute ago. It must not know the kernel's AER lines.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from agent.gpu.nvml.snapshot import Detail, Gpu
from agent.gpu.parts import gpu_part, key_of, unread
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds, Instant, Memory, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

_BUSY_PERCENT = 50
_WIDTH_AFTER, _GENERATION_AFTER, _CLEARED_AFTER = 20.0, 60.0, 120.0
_REPLAYS_A_MINUTE = 8.0
_MINUTE = 60.0
State = dict[str, Any]


def judge_pcie(gpus: Sequence[Gpu], memory: Memory, now: Instant, *, narrow_by_design: bool) -> list[Reading]:
    """Judge the links of a close look."""
    seen: dict[str, State] = memory.setdefault("pcie", {})
    widest = max((gpu.detail.width or 0 for gpu in gpus if gpu.detail), default=0)
    return [
        reading
        for gpu in gpus
        if gpu.detail
        for reading in (
            *_width(gpu, gpu.detail, seen.setdefault(key_of(gpu), {}), widest if narrow_by_design else None),
            *_generation(gpu, gpu.detail),
            *_replays(gpu, gpu.detail, seen[key_of(gpu)], now),
        )
    ]


def _width(gpu: Gpu, detail: Detail, state: State, widest: int | None) -> Iterator[Reading]:
    if detail.width is None or detail.full_width is None:
        yield unread(gpu, Kind.GPU_PCIE_DEGRADED)
        return
    best = state["width"] = max(detail.width, state.get("width", 0))
    normal = detail.full_width if widest is None else max(best, widest)
    if detail.width < normal:
        severity = Severity.ERROR if detail.width * 2 <= normal else Severity.WARNING
        attributes: dict[str, Scalar] = {"reason": "width", "width": detail.width, "full_width": normal}
        message = f"GPU {gpu.index}: its PCIe link is x{detail.width} of x{normal}"
        yield _degraded(gpu, severity, attributes, message, _WIDTH_AFTER)


def _generation(gpu: Gpu, detail: Detail) -> Iterator[Reading]:
    now, full = detail.generation, detail.full_generation
    if now is None or full is None or now >= full or (detail.busy or 0) < _BUSY_PERCENT:
        return
    attributes: dict[str, Scalar] = {"reason": "generation", "generation": now, "full_generation": full}
    message = f"GPU {gpu.index}: its PCIe link runs at generation {now} of {full} while it is busy"
    yield _degraded(gpu, Severity.WARNING, attributes, message, _GENERATION_AFTER)


def _replays(gpu: Gpu, detail: Detail, state: State, now: Instant) -> Iterator[Reading]:
    if detail.pcie_replays is None:
        return
    since, before = state.get("replays", (now.ticks, detail.pcie_replays))
    elapsed = now.ticks - since
    if elapsed >= _MINUTE:
        state["rate"] = round(max(0, detail.pcie_replays - before) / elapsed * _MINUTE, 1)
    if elapsed >= _MINUTE or "replays" not in state:
        state["replays"] = [now.ticks, detail.pcie_replays]
    rate = float(state.get("rate", 0.0))
    if rate > _REPLAYS_A_MINUTE:
        attributes: dict[str, Scalar] = {"reason": "replays", "replays_a_minute": rate}
        message = f"GPU {gpu.index}: its PCIe link repeats {rate:.0f} packets a minute"
        yield _degraded(gpu, Severity.WARNING, attributes, message, 0.0)


def _degraded(gpu: Gpu, severity: Severity, attributes: dict[str, Scalar], message: str, after: float) -> Holds:
    sighting = Sighting(Kind.GPU_PCIE_DEGRADED, severity, gpu_part(gpu), attributes)
    return Holds(sighting, message, after=after, cleared_after=_CLEARED_AFTER)
