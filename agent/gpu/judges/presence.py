"""GPUs that are not there, or that the driver cannot use: lost, not started, fewer than the instance type has.

- NVML's "GPU is lost" is final: "fallen off the bus or otherwise inaccessible" (nvml.h). "Not found" and "unknown
  error" say the same of a handle more often than not (nvidia-smi: "Unable to determine the device handle for GPU"), so
  they have to last some seconds.
- A GPU that was there at an earlier look, and of which the driver says nothing any more, is lost too.
- Power, interrupts and infoROM: the driver sees the part and cannot run it (nvmlDeviceGetHandleByIndex in nvml.h).

It must not know what a GPU that answers says of itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.gpu.judges.actions import recovery
from agent.gpu.nvml.snapshot import (
    CORRUPTED_INFOROM,
    GPU_IS_LOST,
    GPU_NOT_FOUND,
    INSUFFICIENT_POWER,
    IRQ_ISSUE,
    NO_PERMISSION,
    NOT_FOUND,
    RESET_REQUIRED,
    UNKNOWN,
    Gpu,
)
from agent.gpu.parts import gpu_part
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds, Memory, NotMeasured, Reading
from policies.contract.catalog.xid import occurrence_of_loss
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Persistence, Severity

_LOST_AFTER = {GPU_IS_LOST: 0.0, GPU_NOT_FOUND: 5.0, NOT_FOUND: 5.0, UNKNOWN: 5.0}
_UNUSABLE = {
    INSUFFICIENT_POWER: "its external power is not connected right",
    IRQ_ISSUE: "the kernel sees a problem with its interrupts",
    CORRUPTED_INFOROM: "its infoROM is corrupted",
}
_GONE_AFTER, _UNUSABLE_AFTER, _FEWER_AFTER = 5.0, 10.0, 30.0
# What a GPU that does not answer cannot tell of itself.
OF_A_GPU = frozenset(
    {
        *(Kind.GPU_SRAM_THRESHOLD_EXCEEDED, Kind.GPU_ROW_REMAP_PENDING, Kind.GPU_ROW_REMAP_FAILED, Kind.GPU_OVERHEATED),
        *(Kind.GPU_PAGE_RETIREMENT_PENDING, Kind.GPU_SLOWDOWN, Kind.GPU_PCIE_DEGRADED, Kind.FABRIC_MANAGER_ERROR),
        Kind.NVLINK_ERROR,
    }
)


def judge_presence(gpus: Sequence[Gpu], memory: Memory, expected: int | None) -> list[Reading]:
    """Judge who is there; *expected* is how many GPUs the instance type has, None if nobody knows."""
    known: dict[str, list[Any]] = memory.setdefault("gpus", {})
    for gpu in gpus:
        if gpu.uuid and gpu.error is None:
            known[gpu.uuid] = [gpu.index, gpu.pci, gpu.serial]
    seen = [_recalled(gpu, known) for gpu in gpus]
    there = {gpu.uuid for gpu in seen}
    gone = [Gpu(who[0], uuid, who[1], who[2]) for uuid, who in known.items() if uuid not in there]
    found: list[Reading] = []
    for gpu in seen:
        if gpu.error is not None:
            found += _broken(gpu, gpu.error)
    for gpu in gone:
        found += [_lost(gpu, {"was_there": True}, _GONE_AFTER), _silent(gpu, Kind.GPU_RECOVERY_ACTION)]
    if expected is not None and len(gpus) + len(gone) < expected:
        found.append(_fewer(len(gpus), expected))
    return found


def _recalled(gpu: Gpu, known: Mapping[str, list[Any]]) -> Gpu:
    """A GPU that cannot be opened has no name but its place; what was there before gives it one."""
    if gpu.uuid:
        return gpu
    uuid = next((uuid for uuid, who in known.items() if who[0] == gpu.index), None)
    return gpu if uuid is None else Gpu(gpu.index, uuid, known[uuid][1], known[uuid][2], error=gpu.error)


def _broken(gpu: Gpu, code: int) -> list[Reading]:
    if code in _LOST_AFTER:
        return [_lost(gpu, {"nvml_error": code}, _LOST_AFTER[code]), _silent(gpu, Kind.GPU_RECOVERY_ACTION)]
    if code == RESET_REQUIRED:
        return [recovery(gpu, 1, "it has to be reset before it answers again"), _silent(gpu)]
    if code == NO_PERMISSION:
        return [_silent(gpu, Kind.GPU_RECOVERY_ACTION, Kind.GPU_LOST, Kind.GPU_INIT_FAILED)]
    why = _UNUSABLE.get(code, f"the driver cannot use it (NVML code {code})")
    sighting = Sighting(Kind.GPU_INIT_FAILED, Severity.ERROR, gpu_part(gpu), {"nvml_error": code})
    told = Holds(sighting, f"GPU {gpu.index}: {why}", after=_UNUSABLE_AFTER, in_boot=False)
    return [told, _silent(gpu, Kind.GPU_RECOVERY_ACTION)]


def _lost(gpu: Gpu, attributes: dict[str, Scalar], after: float) -> Holds:
    if gpu.pci:
        attributes["occurrence"] = occurrence_of_loss(gpu.pci)
    sighting = Sighting(Kind.GPU_LOST, Severity.CRITICAL, gpu_part(gpu), attributes, Persistence.PERMANENT)
    return Holds(sighting, f"GPU {gpu.index} ({gpu.pci or 'address unknown'}) is lost: it answers no more", after=after)


def _silent(gpu: Gpu, *more: Kind) -> NotMeasured:
    return NotMeasured(OF_A_GPU.union(more), gpu_part(gpu))


def _fewer(found: int, expected: int) -> Holds:
    attributes: dict[str, Scalar] = {"found": found, "expected": expected}
    sighting = Sighting(Kind.GPU_COUNT_MISMATCH, Severity.CRITICAL, NODE, attributes, Persistence.PERMANENT)
    message = f"the driver knows {found} GPUs, the instance type has {expected}"
    return Holds(sighting, message, after=_FEWER_AFTER, in_boot=False)
