"""Adapters that were here in this boot and are not any more.

Decides by the PCI bus: gone from it is a failure; on it and without a device is one, too, unless the device may have
been given to a container. Functions of another adapter, and devices made of software, come and go. It must not know
ports.
"""

from collections.abc import Callable, Sequence
from typing import Any

from agent.fabric.devices import RdmaDevice
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds, Memory, NotMeasured, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Persistence, Severity

SECOND_LOOK_SECONDS = 5.0
RELOAD_SECONDS = 60.0  # on the bus: its driver may be recovering it (mlx5 does so by itself), or being reloaded
_KINDS = frozenset({Kind.NETWORK_DEVICE_FAILED})


def judge_vanished(
    adapters: Sequence[RdmaDevice],
    memory: Memory,
    function: Callable[[RdmaDevice], tuple[bool, str]],
    *,
    exclusive: bool,
) -> list[Reading]:
    """Return a condition for each of the adapters seen before that is not among *adapters*.

    *function* tells of a device whether its PCI function is on the bus, and who drives it.
    """
    seen: dict[str, list[Any]] = memory.setdefault("adapters", {})
    seen |= {adapter.key: [adapter.name, adapter.pci, adapter.function] for adapter in adapters}
    gone = seen.keys() - {adapter.key for adapter in adapters}
    former = [_device(*seen[key]) for key in sorted(gone)]
    return [_judge(device, *function(device), exclusive=exclusive) for device in former]


def _device(name: str, pci: str | None, function: int) -> RdmaDevice:
    return RdmaDevice(name, pci, is_efa=False, function=function)


def _judge(device: RdmaDevice, on_bus: bool, driver: str, *, exclusive: bool) -> Reading:  # noqa: FBT001 - unpacked
    if on_bus and exclusive:
        return NotMeasured(_KINDS, device.component)
    notes: dict[str, Scalar] = {"device": device.name, "on_pci_bus": on_bus, "driver": driver}
    what = "is on the PCI bus and no longer registered" if on_bus else "is gone from the PCI bus"
    sighting = Sighting(
        Kind.NETWORK_DEVICE_FAILED, Severity.CRITICAL, device.component, notes, persistence=Persistence.PERMANENT
    )
    return Holds(sighting, f"adapter {device.name} {what}", after=RELOAD_SECONDS if on_bus else SECOND_LOOK_SECONDS)
