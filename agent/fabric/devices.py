"""Which RDMA devices the kernel has registered, and which of them are EFA: AWS's adapter is no InfiniBand.

Decides how a device is told from others: by its PCI address, by its name where it has none (names change with udev's
rules, addresses do not). It must not know ports or counters.

Sources: Documentation/ABI/stable/sysfs-class-infiniband; drivers/infiniband/hw/efa/efa_main.c (vendor 0x1d0f, devices
0xefa0 to 0xefa3, module and driver ``efa``). ``<device>/device`` leads to the PCI function.
"""

from dataclasses import dataclass
from pathlib import Path

from agent.fabric.sysfs import entries, link_name, read_word
from agent.parsers.pci import normalise_pci
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType

CLASS = "class/infiniband"
_AMAZON, _EFA_DEVICES, _EFA_DRIVER = "0x1d0f", "0xefa", "efa"


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """One entry of /sys/class/infiniband."""

    name: str
    pci: str | None
    is_efa: bool

    @property
    def key(self) -> str:
        """What tells it from the others of this node."""
        return self.pci or self.name

    @property
    def component(self) -> Component:
        """The adapter, for an event."""
        return Component(type=ComponentType.NIC, pci=self.pci)


def read_devices(sysfs: Path) -> list[RdmaDevice]:
    """Return the registered devices by name; OSError when they cannot be listed."""
    folder = sysfs / CLASS
    return [_read(folder / name) for name in entries(folder)]


def _read(path: Path) -> RdmaDevice:
    function = path / "device"
    return RdmaDevice(path.name, _address(function), _is_efa(function))


def _address(function: Path) -> str | None:
    found = normalise_pci(link_name(function) or "")
    if found is not None:
        return found
    lines = (read_word(function / "uevent") or "").splitlines()
    return next((normalise_pci(line[14:]) for line in lines if line.startswith("PCI_SLOT_NAME=")), None)


def _is_efa(function: Path) -> bool:
    driver = link_name(function / "driver")
    return driver == _EFA_DRIVER if driver else read_word(function / "vendor") == _AMAZON


def exclusive_namespaces(sysfs: Path) -> bool:
    """Tell whether a device that is given to a container's network namespace is no longer seen here.

    Source: drivers/infiniband/core/device.c, parameter ``netns_mode`` of ib_core: shared unless set to 0.
    """
    return read_word(sysfs / "module/ib_core/parameters/netns_mode") in {"N", "0"}


def efa_functions(sysfs: Path) -> frozenset[str]:
    """Return the addresses of EFA's PCI functions, whether a driver holds them or not; OSError if none can be listed.

    One look at every PCI function (some hundred on a p5): for the first look, and for when a device is missing.
    """
    folder = sysfs / "bus/pci/devices"
    found = [name for name in entries(folder) if _is_efa_function(folder / name)]
    return frozenset(address for address in map(normalise_pci, found) if address is not None)


def _is_efa_function(function: Path) -> bool:
    vendor, device = read_word(function / "vendor"), read_word(function / "device")
    return vendor == _AMAZON and (device or "").startswith(_EFA_DEVICES)
