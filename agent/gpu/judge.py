"""One look at all GPUs into readings: the order of the judges, and what a short look leaves unsaid. Pure.

Decides what nobody measured: a kind that is not said to be so is taken for well. It must not know how a look was taken.
"""

from dataclasses import dataclass

from agent.gpu.judges.actions import judge_actions
from agent.gpu.judges.clocks import judge_clocks
from agent.gpu.judges.ecc import judge_ecc, judge_ecc_closely
from agent.gpu.judges.fabric import judge_fabric
from agent.gpu.judges.heat import judge_heat
from agent.gpu.judges.links import judge_links
from agent.gpu.judges.pcie import judge_pcie
from agent.gpu.judges.presence import judge_presence
from agent.gpu.judges.rows import judge_rows
from agent.gpu.nvml.snapshot import Look
from agent.gpu.parts import readable
from agent.polls.reading import Instant, Memory, NotMeasured, Reading
from policies.contract.vocabulary import Kind

OF_A_CLOSE_LOOK = frozenset(
    {
        *(Kind.GPU_SRAM_THRESHOLD_EXCEEDED, Kind.GPU_OVERHEATED, Kind.GPU_PCIE_DEGRADED),
        *(Kind.NVLINK_DOWN, Kind.NVLINK_ERROR, Kind.FABRIC_MANAGER_ERROR),
    }
)
OF_ANY_LOOK = frozenset(
    {
        *(Kind.GPU_LOST, Kind.GPU_COUNT_MISMATCH, Kind.GPU_RECOVERY_ACTION, Kind.GPU_SLOWDOWN),
        *(Kind.GPU_ROW_REMAP_PENDING, Kind.GPU_ROW_REMAP_FAILED, Kind.GPU_PAGE_RETIREMENT_PENDING),
    }
)
OF_THE_DRIVER = frozenset({Kind.GPU_INIT_FAILED, Kind.GPU_DRIVER_MISMATCH})
NOTHING_SEEN = NotMeasured(OF_A_CLOSE_LOOK | OF_ANY_LOOK)
NOTHING_KNOWN = NotMeasured(OF_A_CLOSE_LOOK | OF_ANY_LOOK | OF_THE_DRIVER)
_NOT_CLOSE = NotMeasured(OF_A_CLOSE_LOOK)


@dataclass(frozen=True, slots=True)
class Expected:
    """What the instance type has: how many GPUs (None: not known), and whether its PCIe slots are narrow by design."""

    gpus: int | None = None
    narrow_slots: bool = False


def judge(look: Look, memory: Memory, now: Instant, expected: Expected, *, closely: bool) -> list[Reading]:
    """Return what *look* says."""
    gpus = readable(look.gpus)
    found: list[Reading] = [
        *judge_presence(look.gpus, memory, expected.gpus),
        *judge_actions(gpus),
        *judge_rows(gpus),
        *judge_ecc(gpus, memory),
        *judge_clocks(gpus, memory, now),
    ]
    if not closely:
        return [*found, _NOT_CLOSE]
    broken = [gpu for gpu in look.gpus if gpu.error is not None]
    return [
        *found,
        *judge_ecc_closely(gpus, memory, now),
        *judge_heat(gpus),
        *judge_pcie(gpus, memory, now, narrow_by_design=expected.narrow_slots),
        *judge_links(gpus, broken, memory, now),
        *judge_fabric(gpus),
    ]
