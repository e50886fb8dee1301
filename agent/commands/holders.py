"""Which processes have a GPU open, by /proc: who would lose it, and whom a reset would wait for.

Everything is looked at anew: what was known a minute ago (`agent/job/devices.py`) must not decide whether a GPU is
reset. Processes of other users tell this to root alone; who is not seen is left to nvidia-smi, which refuses to reset a
GPU that is in use. It must not know why anybody asks.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent.job.devices import gpus_of, minors_held
from agent.proc import pids_of, read_stat

# They hold every GPU open all the time, and step aside for a reset or are refused by nvidia-smi itself with their name.
MONITORS = frozenset({"nvidia-persiste", "nv-hostengine", "dcgm-exporter", "nv-fabricmanage"})  # comm: 15 characters
_MOST_FILES = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that has GPUs open; ``minors`` are their device files' numbers."""

    pid: int
    name: str
    started: float  # seconds since boot
    minors: frozenset[int]


def holders(procfs: Path, gpus: Iterable[str] = ()) -> list[Holder]:
    """Return who holds one of *gpus* (PCI addresses), or any GPU where none is named or theirs is not known.

    Neither this process nor its children are among them, nor monitors.
    """
    wanted = minors_of(procfs, gpus)
    found = filter(None, (_holder(procfs, pid, wanted) for pid in sorted(pids_of(procfs))))
    return [one for one in found if one.name not in MONITORS]


def minors_of(procfs: Path, gpus: Iterable[str]) -> frozenset[int]:
    """Return the numbers of the device files of *gpus*; empty, which is any, unless all of them are known."""
    named = {_short(gpu) for gpu in gpus}
    known = {_short(gpu.pci): gpu.minor for gpu in gpus_of(procfs)}
    return frozenset(known[gpu] for gpu in named) if named <= known.keys() else frozenset()


def _short(gpu: str) -> str:
    """Return an address with its domain in four digits; the driver prints eight in some places."""
    domain, _, rest = gpu.partition(":")
    return f"{domain[-4:]}:{rest}"


def _holder(procfs: Path, pid: int, wanted: frozenset[int]) -> Holder | None:
    held = frozenset(minors_held(procfs, pid, most=_MOST_FILES))
    if not held or (wanted and not held & wanted):
        return None
    stat = read_stat(procfs, pid)
    if stat is None or os.getpid() in {pid, stat.parent}:
        return None
    return Holder(pid, stat.name, stat.started, held)
