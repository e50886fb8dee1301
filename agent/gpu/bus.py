"""Which NVIDIA GPUs are on the PCI bus, whether or not a driver knows them.

Source: Documentation/ABI/testing/sysfs-bus-pci (vendor, class); PCI class 0x03 is a display controller, and a data
centre's GPU is a 3D controller (0x0302) of vendor 0x10de. It must not know NVML.
"""

from pathlib import Path

from agent.kernel_files import read_word

_VENDOR = "0x10de"
_CLASS = "0x03"


def gpus_on_bus(sysfs: Path) -> list[str]:
    """Return their addresses as ``dddd:bb:dd``, in order; empty where the bus cannot be seen."""
    try:
        devices = sorted((sysfs / "bus" / "pci" / "devices").iterdir())
    except OSError:
        return []
    return [device.name.partition(".")[0].lower() for device in devices if _is_gpu(device)]


def _is_gpu(device: Path) -> bool:
    return read_word(device / "vendor") == _VENDOR and (read_word(device / "class") or "").startswith(_CLASS)
