"""How a GPU and its links are named in events. It must not know what is wrong with them."""

from collections.abc import Iterable
from functools import lru_cache

from agent.gpu.nvml.snapshot import Gpu
from agent.polls.reading import NotMeasured
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind


@lru_cache(maxsize=1024)
def named(
    kind: ComponentType, index: int | None, uuid: str | None, pci: str | None, serial: str | None, link: int | None
) -> Component:
    """Return the component; most looks name the same ones again."""
    return Component(type=kind, index=index, uuid=uuid, pci=pci, serial=serial, link=link)


def gpu_part(gpu: Gpu) -> Component:
    """Return the GPU as the part at fault."""
    return named(ComponentType.GPU, gpu.index, gpu.uuid, gpu.pci, gpu.serial, None)


def link_part(gpu: Gpu, link: int | None = None) -> Component:
    """Return one NVLink of the GPU, or all of them, as the part at fault."""
    return named(ComponentType.NVLINK, gpu.index, gpu.uuid, gpu.pci, gpu.serial, link)


def unread(gpu: Gpu, *kinds: Kind) -> NotMeasured:
    """Say that these of the GPU could not be read."""
    return NotMeasured(frozenset(kinds), gpu_part(gpu))


def key_of(gpu: Gpu) -> str:
    """Return under which name a poll remembers the GPU: the same after a restart of the agent."""
    return gpu.uuid or gpu.pci or str(gpu.index)


def readable(gpus: Iterable[Gpu]) -> list[Gpu]:
    """Return those that answered."""
    return [gpu for gpu in gpus if gpu.error is None]
