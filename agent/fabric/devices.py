"""Which RDMA devices the kernel has registered, and which of them are EFA: AWS's adapter is no InfiniBand.

Decides how a device is told from others: by its PCI function, by its name where it has none (names change with udev's
rules, addresses do not). An adapter with two connectors is two functions of one address. It must not know ports or
counters.

Sources: Documentation/ABI/stable/sysfs-class-infiniband; drivers/infiniband/hw/efa/efa_main.c (vendor 0x1d0f, devices
0xefa0 to 0xefa3, module and driver ``efa``). ``<device>/device`` leads to the PCI function.
"""

from dataclasses import dataclass
from pathlib import Path

from agent.kernel_files import entries, link_name, read_word
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
    function: int = 0

    @property
    def key(self) -> str:
        """What tells it from the others of this node: ``dddd:bb:dd``, with ``.n`` when it is not the first function."""
        if self.pci is None:
            return self.name
        return f"{self.pci}.{self.function}" if self.function else self.pci

    @property
    def component(self) -> Component:
        """The adapter, for an event, and which of its connectors if not the first."""
        return Component(type=ComponentType.NIC, pci=self.pci, link=self.function + 1 if self.function else None)


def read_devices(sysfs: Path) -> list[RdmaDevice]:
    """Return the registered devices by name; OSError when they cannot be listed."""
    folder = sysfs / CLASS
    return [_read(folder / name) for name in entries(folder)]


def _read(path: Path) -> RdmaDevice:
    function = path / "device"
    address = _address(function)
    number = address.rpartition(".")[2] if address else ""
    return RdmaDevice(
        path.name,
        normalise_pci(address) if address else None,
        _is_efa(function),
        int(number) if number.isascii() and number.isdigit() else 0,
    )


def _address(function: Path) -> str | None:
    found = link_name(function) or ""
    if normalise_pci(found) is not None:
        return found
    lines = (read_word(function / "uevent") or "").splitlines()
    return next((line[14:] for line in lines if line.startswith("PCI_SLOT_NAME=")), None)


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
