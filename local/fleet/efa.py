"""The EFA devices of a simulated node, as sysfs shows them: class entry, PCI function, driver.

Sources: Documentation/ABI/stable/sysfs-class-infiniband; drivers/infiniband/hw/efa (vendor 0x1d0f, device 0xefa2).
A p5.48xlarge has 32; four stand for them. It must not know who looks.
"""

from pathlib import Path

BUSES = ("4f", "60", "71", "82")


def name_of(bus: str) -> str:
    """`rdmap79s0`: udev's name of the device on this PCI bus (rdma-core, by path)."""
    return f"rdmap{int(bus, 16)}s0"


def make(sysfs: Path) -> None:
    """Make all devices of a node."""
    driver = sysfs / "bus" / "pci" / "drivers" / "efa"
    driver.mkdir(parents=True, exist_ok=True)
    for bus in BUSES:
        address = f"0000:{bus}:00.0"
        function = sysfs / "devices" / f"pci0000:{bus}" / address
        (function / "infiniband").mkdir(parents=True, exist_ok=True)
        (function / "vendor").write_text("0x1d0f\n")
        (function / "device").write_text("0xefa2\n")
        _link(function / "driver", driver)
        _link(sysfs / "bus" / "pci" / "devices" / address, function)
        registered = function / "infiniband" / name_of(bus)
        registered.mkdir(exist_ok=True)
        _link(registered / "device", function)
        _link(sysfs / "class" / "infiniband" / name_of(bus), registered)


def lose(sysfs: Path, bus: str) -> None:
    """The device is gone: from the class and from the bus."""
    (sysfs / "class" / "infiniband" / name_of(bus)).unlink(missing_ok=True)
    (sysfs / "bus" / "pci" / "devices" / f"0000:{bus}:00.0").unlink(missing_ok=True)


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_symlink():
        path.symlink_to(target)
