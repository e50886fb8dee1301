"""What the kernel's EDAC drivers counted: errors of the machine's memory, by controller and by module.

A reader; it decides only what a tree says. It must not know what was counted before.

Source: Documentation/ABI/testing/sysfs-devices-edac, drivers/edac/edac_mc_sysfs.c. The folders of a controller are
named `dimm3`, or `rank3` where the driver knows chip selects only (amd64_edac); ``ce_count`` of a controller includes
what no module was found for (`ce_noinfo_count`). The older `csrow*` folders say the same again and are not read: where
a kernel has nothing else the controller's own counters are told. All begin at 0 when the driver is loaded.
"""

from dataclasses import dataclass
from pathlib import Path

from agent.kernel_files import Number, entries, read_number, read_word

MAX_CONTROLLERS, MAX_MODULES = 64, 128  # two sockets have 24 controllers at most, each 8 modules of 4 ranks
_CONTROLLERS = Path("devices/system/edac/mc")


@dataclass(frozen=True, slots=True)
class Module:
    """One memory module, or one rank of it. ``label`` is the board's word for the slot, ``location`` the driver's."""

    name: str
    label: str
    location: str
    corrected: Number
    uncorrected: Number


@dataclass(frozen=True, slots=True)
class Controller:
    """One memory controller and its modules; its counters hold theirs."""

    index: int
    corrected: Number
    uncorrected: Number
    modules: tuple[Module, ...]


def read_controllers(sysfs: Path) -> list[Controller]:
    """Return the memory controllers below *sysfs*, in order; OSError when the folder cannot be listed."""
    root = sysfs / _CONTROLLERS
    names = sorted((name for name in entries(root) if _number(name, "mc") is not None), key=lambda name: int(name[2:]))
    return [_controller(root / name) for name in names[:MAX_CONTROLLERS]]


def _controller(folder: Path) -> Controller:
    names = [name for name in entries(folder) if _number(name, "dimm") is not None or _number(name, "rank") is not None]
    return Controller(
        int(folder.name[2:]),
        read_number(folder / "ce_count"),
        read_number(folder / "ue_count"),
        tuple(_module(folder / name) for name in names[:MAX_MODULES]),
    )


def _module(folder: Path) -> Module:
    return Module(
        folder.name,
        read_word(folder / "dimm_label") or "",
        read_word(folder / "dimm_location") or "",
        read_number(folder / "dimm_ce_count"),
        read_number(folder / "dimm_ue_count"),
    )


def _number(name: str, prefix: str) -> int | None:
    rest = name.removeprefix(prefix)
    return int(rest) if rest != name and rest.isascii() and rest.isdigit() else None
