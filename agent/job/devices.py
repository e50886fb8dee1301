"""Which processes hold a GPU, by the device files that they have open, and which GPU a device file is.

A process that only counts GPUs (a monitor) opens them too, and most frameworks open all that they see: what is held
says who may be hurt, not who is at work. All of /proc cannot be read every few seconds on a node with thousands of
processes: a new one is looked at soon and then ever less often, so many a look and no more. Where NVIDIA's driver is
not loaded nothing is looked at. It must not know jobs.

Sources: nvidia's kernel-open/nvidia/nv-procfs.c (/proc/driver/nvidia/gpus/<pci>/information: "Device Minor",
"GPU UUID"); /dev/nvidia<minor>.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.kernel_files import names, read_or_empty
from agent.proc import pids_of, read_stat

LOOKED_AT_ONCE = 256
_FIRST_AGAIN, _LAST_AGAIN = 5.0, 600.0
_FILES_LOOKED_AT = 1024
_MOST_GPUS = 64
_PF_KTHREAD = 0x00200000  # include/linux/sched.h
_NEVER = float("inf")
_MINOR = re.compile(r"^Device Minor:\s*([0-9]{1,4})", re.MULTILINE)
_UUID = re.compile(r"^GPU UUID:\s*(GPU-[0-9a-f-]{36})", re.MULTILINE)
_PCI = re.compile(r"^([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})\.[0-9]$")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as the driver names it."""

    minor: int
    pci: str
    uuid: str


def gpus_of(proc: Path) -> list[Gpu]:
    """Return the node's GPUs in the order of their addresses; none where the driver is not loaded."""
    folder = proc / "driver/nvidia/gpus"
    found = []
    for name in sorted(names(folder, _MOST_GPUS)):
        text = read_or_empty(folder / name / "information")
        pci, minor, uuid = _PCI.match(name.lower()), _MINOR.search(text), _UUID.search(text)
        if pci and minor:
            found.append(Gpu(int(minor[1]), pci[1], uuid[1] if uuid else ""))
    return found


@dataclass(slots=True)
class _Seen:
    next_look: float
    pause: float


class DeviceHolders:
    """Remembers which process holds which GPUs (by minor number) and when each process is looked at again."""

    def __init__(self, proc: Path, device: str = "/dev/nvidia") -> None:
        """Look for open files called *device* and a number."""
        self._proc, self._device = proc, device
        self._seen: dict[int, _Seen] = {}
        self._held: dict[int, frozenset[int]] = {}

    @property
    def remembered(self) -> int:
        """How many processes are known."""
        return len(self._seen)

    def look(self, ticks: float) -> Mapping[int, frozenset[int]]:
        """Return the minor numbers that each process is known to hold, at *ticks* seconds since boot."""
        if not (self._proc / "driver/nvidia").is_dir():
            self._seen, self._held = {}, {}
            return {}
        there = pids_of(self._proc)
        for pid in self._seen.keys() - there:
            del self._seen[pid]
            self._held.pop(pid, None)
        for pid in there - self._seen.keys():
            self._seen[pid] = _Seen(ticks, _FIRST_AGAIN)
        for pid in self._chosen(ticks):
            self._look_at(pid, self._seen[pid], ticks)
        return self._held

    def _chosen(self, ticks: float) -> set[int]:
        """Return whom to look at: the youngest, which may just begin to train, and those that wait for longest."""
        due = [pid for pid, seen in self._seen.items() if seen.next_look <= ticks]
        if len(due) <= LOOKED_AT_ONCE:
            return set(due)
        half = LOOKED_AT_ONCE // 2
        return {*sorted(due, reverse=True)[:half], *sorted(due, key=lambda pid: self._seen[pid].next_look)[:half]}

    def _look_at(self, pid: int, seen: _Seen, ticks: float) -> None:
        stat = read_stat(self._proc, pid)
        if pid == os.getpid() or (stat and stat.flags & _PF_KTHREAD):
            seen.next_look = _NEVER
            return
        held = frozenset(minors_held(self._proc, pid, self._device))
        if held:
            self._held[pid] = held
        elif stat and stat.is_alive:
            self._held.pop(pid, None)  # a process that is ending has lost its list of files before its GPU
        seen.next_look = ticks + seen.pause
        seen.pause = min(_LAST_AGAIN, 2 * seen.pause)


def minors_held(proc: Path, pid: int, device: str = "/dev/nvidia", most: int = _FILES_LOOKED_AT) -> Iterator[int]:
    """Yield the numbers of the *device* files that *pid* has open, of so many files that are looked at."""
    folder, skip = f"{proc}/{pid}/fd", len(device)
    for name in names(folder, most):
        try:
            target = os.readlink(f"{folder}/{name}")  # noqa: PTH115 - a Path for each open file costs
        except OSError:
            continue
        if target.startswith(device) and target[skip:].isdecimal():
            yield int(target[skip:])
