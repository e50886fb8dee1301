"""Clocks that the hardware holds down, as a rate: a bit seen once says nothing.

Only three reasons are faults: hardware slowdown 0x8, hardware thermal 0x40, power brake 0x80 (nvml.h,
nvmlClocksEventReasons). Idle 0x1, power cap 0x4 and the software's thermal limit 0x20 are what a busy or an idle GPU
does. gpud calls it a fault from 0.6 events a minute over ten minutes; so here: seen in 6 of the last 10 minutes. A
power brake (something outside pulls it) is one after three looks in a row: NVSentinel's users had it for 36 hours
unseen. 0x8 is set along with the other two, and counts by itself only.

Memory, for each GPU: for each reason the minute of the last look, and a bit for each of the last ten minutes. It must
not know temperatures.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from agent.gpu.nvml.snapshot import Gpu
from agent.gpu.parts import gpu_part, key_of, unread
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds, Instant, Memory, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

HW_SLOWDOWN, HW_THERMAL, POWER_BRAKE = 0x8, 0x40, 0x80
_MINUTES, _MINUTES_FOR_A_FAULT, _LOOKS_FOR_A_BRAKE = 10, 6, 3
_WINDOW = (1 << _MINUTES) - 1
_CLEARED_AFTER = 120.0
_SAID = {
    "hw_thermal": "the hardware slows it down because it is too hot",
    "power_brake": "its power brake is pulled from outside: the power supply holds it down",
    "hw_slowdown": "the hardware slows it down",
}


def judge_clocks(gpus: Iterable[Gpu], memory: Memory, now: Instant) -> list[Reading]:
    """Judge why each GPU's clocks are low."""
    seen: dict[str, Any] = memory.setdefault("clocks", {})
    return [reading for gpu in gpus for reading in _judge(gpu, seen, int(now.ticks // 60))]


def _judge(gpu: Gpu, seen: dict[str, Any], minute: int) -> Iterator[Reading]:
    if gpu.reasons is None:
        yield unread(gpu, Kind.GPU_SLOWDOWN)
        return
    key, mask = key_of(gpu), gpu.reasons & (HW_SLOWDOWN | HW_THERMAL | POWER_BRAKE)
    if not mask and key not in seen:
        return
    state = seen.setdefault(key, {"row": 0})
    state["row"] = state["row"] + 1 if mask & POWER_BRAKE else 0
    for reason, is_set in (
        ("hw_thermal", mask & HW_THERMAL),
        ("power_brake", mask & POWER_BRAKE),
        ("hw_slowdown", mask == HW_SLOWDOWN),
    ):
        minutes = _minutes(state, reason, minute, is_set=bool(is_set))
        often = minutes >= _MINUTES_FOR_A_FAULT
        if often or (reason == "power_brake" and state["row"] >= _LOOKS_FOR_A_BRAKE):
            yield _slow(gpu, reason, minutes, often=often)
    if state == {"row": 0}:
        del seen[key]


def _minutes(state: dict[str, Any], reason: str, minute: int, *, is_set: bool) -> int:
    """Return in how many of the last ten minutes *reason* was seen."""
    last, bits = state.get(reason, (minute, 0))
    bits = (bits << min(max(0, minute - last), _MINUTES)) & _WINDOW | is_set
    if bits:
        state[reason] = [minute, bits]
    else:
        state.pop(reason, None)
    return int(bits).bit_count()


def _slow(gpu: Gpu, reason: str, minutes: int, *, often: bool) -> Holds:
    severity = Severity.ERROR if often and reason == "power_brake" else Severity.WARNING
    attributes: dict[str, Scalar] = {"reason": reason, "minutes_of_ten": minutes}
    message = f"GPU {gpu.index}: {_SAID[reason]} ({minutes} of the last {_MINUTES} minutes)"
    return Holds(
        Sighting(Kind.GPU_SLOWDOWN, severity, gpu_part(gpu), attributes), message, cleared_after=_CLEARED_AFTER
    )
