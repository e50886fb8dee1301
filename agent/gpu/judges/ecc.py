"""Memory errors by their counters, in memory (DRAM) and caches (SRAM).

- Uncorrected, volatile (since the driver was loaded): every one is told, those of the first look as well: they are of
  this boot. Xids 48, 63, 64, 94 and 95 of the same GPU are its companions and share its occurrence.
- Uncorrected, aggregate (of the card's whole life): what it shows at first is old, whatever it is. Later it tells only
  what the volatile counter did not: errors before a reload of the driver, which sets that one back.
- Corrected: harmless one by one (docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt: rows are remapped by themselves), so
  information, and once a minute.
- SRAM threshold: the vendor's own limit at which the card is to be returned (same page), for good.

It must not know the kernel's log.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from agent.gpu.nvml.snapshot import Gpu
from agent.gpu.parts import gpu_part, key_of, unread
from agent.parsers.sighting import Sighting
from agent.polls.reading import Happened, Holds, Instant, Memory, Reading
from policies.contract.catalog.xid import occurrence_key
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Persistence, Severity

_DOUBLE_BIT = 48  # the Xid whose companions an uncorrected error has
_CORRECTED_SECONDS = 60.0
Counts = dict[str, Any]


def judge_ecc(gpus: Iterable[Gpu], memory: Memory) -> list[Reading]:
    """Judge the uncorrected errors of a look."""
    return [reading for gpu in gpus for reading in _uncorrected(gpu, _counts(memory, gpu))]


def judge_ecc_closely(gpus: Iterable[Gpu], memory: Memory, now: Instant) -> list[Reading]:
    """Judge what only a close look tells; `judge_ecc` of the same look comes first."""
    found: list[Reading] = []
    for gpu in gpus:
        counts = _counts(memory, gpu)
        found += [*_forgotten(gpu, counts), *_corrected(gpu, counts, now), *_sram(gpu)]
    return found


def _counts(memory: Memory, gpu: Gpu) -> Counts:
    counts: Counts = memory.setdefault("ecc", {}).setdefault(key_of(gpu), {})
    return counts


def risen(counts: Counts, name: str, value: int | None) -> int:
    """Return by how much *name* rose; from 0 at first, and from 0 again after it fell."""
    if value is None:
        return 0
    before = int(counts.get(name, 0))
    counts[name] = value
    return value - before if value >= before else value


def _uncorrected(gpu: Gpu, counts: Counts) -> Iterator[Reading]:
    new, in_dram = risen(counts, "volatile", gpu.ecc_uncorrected), risen(counts, "dram", gpu.ecc_uncorrected_dram)
    if not new:
        return
    counts["told"] = counts.get("told", 0) + new
    where: dict[str, Scalar] = {}
    if gpu.ecc_uncorrected_dram is not None:
        where["memory"] = "dram" if in_dram else "sram"
    message = f"GPU {gpu.index}: {new} uncorrected memory errors, {gpu.ecc_uncorrected} since the driver was loaded"
    yield Happened(_error(gpu, where), message, new)


def _error(gpu: Gpu, attributes: dict[str, Scalar]) -> Sighting:
    if occurrence := occurrence_key(_DOUBLE_BIT, gpu.pci):
        attributes["occurrence"] = occurrence
    return Sighting(Kind.GPU_ECC_UNCORRECTED, Severity.ERROR, gpu_part(gpu), attributes)


def _forgotten(gpu: Gpu, counts: Counts) -> Iterator[Reading]:
    """Both counters are not written in one moment, so the difference has to be there twice in a row."""
    ever = gpu.detail.ecc_uncorrected_ever if gpu.detail else None
    if ever is None:
        return
    if "ever" not in counts or ever < counts["ever"]:
        counts["ever"], counts["told"], counts["ahead"] = ever, 0, 0
        return
    ahead = max(0, ever - counts["ever"] - counts.get("told", 0))
    new, counts["ahead"] = min(ahead, counts.get("ahead", 0)), ahead
    if new:
        counts["told"], counts["ahead"] = counts.get("told", 0) + new, ahead - new
        message = (
            f"GPU {gpu.index}: {new} uncorrected memory errors more in its life than were seen since the driver's load"
        )
        yield Happened(_error(gpu, {"counter": "aggregate"}), message, new)


def _corrected(gpu: Gpu, counts: Counts, now: Instant) -> Iterator[Reading]:
    value = gpu.detail.ecc_corrected if gpu.detail else None
    first = "corrected" not in counts
    new = risen(counts, "corrected", value)
    if first:  # harmless, and old
        return
    waiting = counts["corrected_waiting"] = counts.get("corrected_waiting", 0) + new
    if waiting and now.ticks - counts.get("corrected_told", 0.0) >= _CORRECTED_SECONDS:
        counts["corrected_waiting"], counts["corrected_told"] = 0, now.ticks
        ever = gpu.detail.ecc_corrected_ever if gpu.detail else None
        in_its_life: dict[str, Scalar] = {} if ever is None else {"in_its_life": ever}
        sighting = Sighting(Kind.GPU_ECC_CORRECTED, Severity.INFO, gpu_part(gpu), in_its_life)
        yield Happened(sighting, f"GPU {gpu.index}: {waiting} memory errors were corrected", waiting)


def _sram(gpu: Gpu) -> Iterator[Reading]:
    exceeded = gpu.detail.sram_exceeded if gpu.detail else None
    if exceeded is None:
        yield unread(gpu, Kind.GPU_SRAM_THRESHOLD_EXCEEDED)
    elif exceeded:
        sighting = Sighting(
            Kind.GPU_SRAM_THRESHOLD_EXCEEDED, Severity.ERROR, gpu_part(gpu), persistence=Persistence.PERMANENT
        )
        yield Holds(sighting, f"GPU {gpu.index}: so many SRAM errors that the vendor takes the card back")
