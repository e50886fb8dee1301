"""NVLinks: down, or counting errors.

- A link that says "not supported" is not there; one that answers and is inactive is down. Where no link of any GPU was
  ever active nothing is wired (a card with an empty bridge). A GPU in MIG mode has its links switched off.
- Errors by their increase since the last close look. A recovery is a retraining: traffic stood still, so an error; DCGM
  calls replays critical as well from the first on (dcgm_health: NVLINK_ERROR_CRITICAL), we warn. "CRC errors only
  matter at rates of 100+ per second" (DCGM, dcgm_gpu_hardware_limits.h).
- Many links of one GPU at once are one event of that GPU: one thing is wrong, and it is no single link.

Memory, for each GPU: whether a link of it was ever active, its counters, which links are down. It must not know Xids.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.gpu.nvml.snapshot import Gpu, Link
from agent.gpu.parts import key_of, link_part
from agent.parsers.sighting import Sighting
from agent.polls.reading import Happened, Holds, Instant, Memory, NotMeasured, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

_FOLD_FROM = 5
_DOWN_AFTER = 10.0
_CRC_A_SECOND = 100.0
_COUNTERS = {  # what its increase is called, and how bad it is
    "replays": ("replay", Severity.WARNING),
    "recoveries": ("recovery", Severity.ERROR),
    "crc": ("crc", Severity.ERROR),
    "failed_recoveries": ("recovery_failed", Severity.ERROR),
}
State = dict[str, Any]


def judge_links(gpus: Sequence[Gpu], unread: Sequence[Gpu], memory: Memory, now: Instant) -> list[Reading]:
    """Judge the links of a close look; of the *unread* GPUs it is not known how their links are."""
    states: dict[str, State] = memory.setdefault("links", {})
    for gpu in gpus:
        state = states.setdefault(key_of(gpu), {})
        state["wired"] = state.get("wired", False) or any(link.active for link in _links(gpu))
    some_wired = any(state.get("wired") for state in states.values())
    found: list[Reading] = []
    for gpu in gpus:
        if gpu.mig:
            found += _unknown(gpu, states)
        elif some_wired:
            found += _down(gpu, states[key_of(gpu)])
        found += _errors(gpu, states[key_of(gpu)], now)
    return found + [reading for gpu in unread for reading in _unknown(gpu, states)]


def _links(gpu: Gpu) -> tuple[Link, ...]:
    return gpu.detail.links if gpu.detail else ()


def _unknown(gpu: Gpu, states: Mapping[str, State]) -> list[NotMeasured]:
    told = states.get(key_of(gpu), {}).get("down", [])
    return [NotMeasured(frozenset({Kind.NVLINK_DOWN}), link_part(gpu, link)) for link in told]


def _down(gpu: Gpu, state: State) -> Iterator[Reading]:
    down: list[int | None] = [link.number for link in _links(gpu) if link.active is False]
    dark = [link.number for link in _links(gpu) if link.active is None]
    for number in dark:
        yield NotMeasured(frozenset({Kind.NVLINK_DOWN}), link_part(gpu, number))
    if len(down) >= _FOLD_FROM:
        message = f"GPU {gpu.index}: {len(down)} of {len(_links(gpu))} NVLinks are down"
        yield _holds(gpu, None, {"links": _list(down), "count": len(down)}, message)
        down = [None]
    else:
        for link in down:
            yield _holds(gpu, link, {}, f"GPU {gpu.index}: NVLink {link} is down")
    state["down"] = [*down, *dark]


def _holds(gpu: Gpu, link: int | None, attributes: dict[str, Scalar], message: str) -> Holds:
    sighting = Sighting(Kind.NVLINK_DOWN, Severity.ERROR, link_part(gpu, link), attributes)
    return Holds(sighting, message, after=_DOWN_AFTER, in_boot=False)


def _errors(gpu: Gpu, state: State, now: Instant) -> Iterator[Reading]:
    links = _links(gpu)
    seconds = now.ticks - state.get("at", now.ticks)
    state["at"] = now.ticks
    for name, (reason, severity) in _COUNTERS.items():
        values = [getattr(link, name) for link in links]
        before, state[name] = state.get(name), values
        if before is None or len(before) != len(values):
            continue
        least = _CRC_A_SECOND * seconds if name == "crc" else 1
        risen = {
            link.number: rise
            for link, old, new in zip(links, before, values, strict=True)
            if (rise := _rise(old, new)) >= max(1, least)
        }
        yield from _told(gpu, reason, severity, risen)


def _rise(old: int | None, new: int | None) -> int:
    if old is None or new is None:
        return 0
    return new - old if new >= old else new


def _told(gpu: Gpu, reason: str, severity: Severity, risen: Mapping[int, int]) -> Iterator[Reading]:
    if len(risen) >= _FOLD_FROM:
        count = sum(risen.values())
        attributes: dict[str, Scalar] = {"reason": reason, "links": _list(list(risen))}
        message = f"GPU {gpu.index}: {count} {reason} errors on {len(risen)} NVLinks"
        yield Happened(Sighting(Kind.NVLINK_ERROR, severity, link_part(gpu), attributes), message, count)
        return
    for number, count in risen.items():
        message = f"GPU {gpu.index}: {count} {reason} errors on NVLink {number}"
        yield Happened(
            Sighting(Kind.NVLINK_ERROR, severity, link_part(gpu, number), {"reason": reason}), message, count
        )


def _list(numbers: Sequence[int | None]) -> str:
    return ",".join(str(number) for number in numbers)
