"""GPUs as the judges see them: healthy H100s, and what is wrong with one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent.gpu.judge import Expected, judge
from agent.gpu.nvml.snapshot import Detail, Fabric, Gpu, Link, Look
from agent.polls.reading import Happened, Holds, Memory, Reading
from policies.contract.vocabulary import Kind
from tests.tools.nvml.state import pci_of, uuid_of
from tests.tools.polling import instant

LINKS = tuple(Link(number, active=True, replays=0, recoveries=0, crc=0) for number in range(18))
DETAIL = Detail(
    ecc_corrected=0,
    ecc_corrected_ever=0,
    ecc_uncorrected_ever=0,
    sram_exceeded=False,
    temperature=41,
    margin=46,
    slowdown_margin=-2,
    memory_temperature=48,
    memory_limit=95,
    width=16,
    full_width=16,
    generation=5,
    full_generation=5,
    pcie_replays=0,
    busy=97,
    links=LINKS,
    fabric=Fabric(3, 0, 0xAA),
)
P5 = Expected(8)


def gpu(index: int = 0, detail: dict[str, Any] | None = None, **changes: Any) -> Gpu:  # noqa: ANN401 - any field
    """Return a healthy GPU but for these."""
    healthy = Gpu(
        index,
        uuid_of(index),
        pci_of(index),
        f"165{index:07d}",
        "NVIDIA H100 80GB HBM3",
        reasons=0,
        ecc_uncorrected=0,
        ecc_uncorrected_dram=0,
        remap_pending=False,
        remap_failed=False,
        recovery_action=0,
        detail=replace(DETAIL, **(detail or {})),
    )
    return replace(healthy, **changes)


def eight(first: Gpu | None = None) -> list[Gpu]:
    """Return the GPUs of a p5.48xlarge, the first of them as given."""
    return [first or gpu(0), *(gpu(index) for index in range(1, 8))]


def links(*changed: Link) -> tuple[Link, ...]:
    """Return 18 links, these among them."""
    by_number = {link.number: link for link in (*LINKS, *changed)}
    return tuple(by_number[number] for number in sorted(by_number))


class Node:
    """Looks one after the other, with one memory."""

    def __init__(self, expected: Expected = P5) -> None:
        self.memory: Memory = {}
        self.expected = expected

    def look(self, gpus: Sequence[Gpu], seconds: float = 0.0, *, closely: bool = True) -> list[Reading]:
        return judge(Look(tuple(gpus)), self.memory, instant(seconds), self.expected, closely=closely)

    def faults(self, gpus: Sequence[Gpu], seconds: float = 0.0, *, closely: bool = True) -> list[Holds | Happened]:
        """Return what holds and what happened."""
        return told(self.look(gpus, seconds, closely=closely))


def told(readings: Sequence[Reading]) -> list[Holds | Happened]:
    return [reading for reading in readings if isinstance(reading, Holds | Happened)]


def kinds(readings: Sequence[Reading]) -> list[Kind]:
    return [one.sighting.kind for one in told(readings)]
