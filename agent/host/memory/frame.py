"""How much memory is in use now: the node, the largest processes, and the limits of the groups that these run in.

A reader. What counts is what the kernel cannot take back: a process's own pages (not the files it maps), a group's use
less its page cache, and of the node what is not available. So a cache that fills is no growth. It must not know trends.

Sources: proc_pid_statm(5), proc_pid_stat(5), proc_meminfo(5) (MemAvailable); Documentation/admin-guide/cgroup-v2.rst.
The kubelet's working set takes off inactive_file alone, and so grows with a cache that is read twice.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent.kernel_files import read_or_empty, read_word
from agent.proc import read_stat

MOST_PROCESSES = 16
LEAST_BYTES = 1 << 30  # smaller processes end no node with a terabyte
_LOOKED_AT = 16384
_MOST_LEVELS = 12
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CACHE = ("inactive_file", "active_file", "slab_reclaimable")
_MEMINFO = re.compile(r"^(MemTotal|MemAvailable|SwapFree): +([0-9]+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Process:
    """One process: ``started`` seconds after boot, ``own`` bytes of its own, and the group (path) that limits it."""

    pid: int
    name: str
    started: float
    own: int
    group: str


@dataclass(frozen=True, slots=True)
class Group:
    """A cgroup with a limit, in bytes."""

    limit: int
    used: int


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes: all memory, what is left of it, the largest processes, and of each the tightest group around it."""

    total: int
    available: int
    processes: tuple[Process, ...]
    groups: dict[str, Group]


def read_frame(procfs: Path, sysfs: Path, most: int = MOST_PROCESSES) -> Frame:
    """Return what is in use now; OSError when the node's own figures cannot be read."""
    found = dict(_MEMINFO.findall((procfs / "meminfo").read_text(encoding="utf-8", errors="replace")))
    if "MemAvailable" not in found:
        raise OSError(f"{procfs}/meminfo does not say MemAvailable")
    largest = sorted(_sizes(procfs), reverse=True)[:most]
    processes = [one for own, pid in largest if (one := _process(procfs, pid, own)) is not None]
    groups: dict[str, Group] = {}
    placed = tuple(_placed(one, sysfs / "fs/cgroup", groups) for one in processes)
    tightest = {one.group: groups[one.group] for one in placed if one.group}
    left = int(found["MemAvailable"]) + int(found.get("SwapFree", 0))
    return Frame(int(found["MemTotal"]) * 1024, left * 1024, placed, tightest)


def _sizes(procfs: Path) -> Iterator[tuple[int, int]]:
    """Yield (bytes of its own, pid) of each process that is large enough."""
    with os.scandir(procfs) as entries:
        for entry in islice((one for one in entries if one.name.isdigit()), _LOOKED_AT):
            with suppress(ValueError, IndexError):
                fields = read_or_empty(f"{entry.path}/statm").split()
                own = (int(fields[1]) - int(fields[2])) * _PAGE
                if own >= LEAST_BYTES:
                    yield own, int(entry.name)


def _process(procfs: Path, pid: int, own: int) -> Process | None:
    stat = read_stat(procfs, pid)
    if stat is None:
        return None
    return Process(pid, stat.name, stat.started, own, _unified(read_word(procfs / str(pid) / "cgroup") or ""))


def _unified(text: str) -> str:
    """Return the path in the unified hierarchy (cgroups(7)); empty where it is not used or lies outside our view."""
    path = next((line[3:] for line in text.splitlines() if line.startswith("0::")), "")
    return "" if "/.." in path else path


def _placed(process: Process, root: Path, groups: dict[str, Group]) -> Process:
    """Note the tightest limit around *process* in *groups*, and return the process with its path, empty for none."""
    path, tightest = process.group.rstrip("/"), ""
    for _ in range(_MOST_LEVELS):
        if not path:
            break
        group = groups.get(path) or _group(root / path.lstrip("/"))
        if group is not None:
            groups[path] = group
            if not tightest or group.limit - group.used < groups[tightest].limit - groups[tightest].used:
                tightest = path
        path = path.rpartition("/")[0]
    return Process(process.pid, process.name, process.started, process.own, tightest)


def _group(folder: Path) -> Group | None:
    limit, used, stat = (read_word(folder / f"memory.{what}") for what in ("max", "current", "stat"))
    if limit is None or used is None or not limit.isdigit() or not used.isdigit():
        return None
    counted = dict(line.split(" ", 1) for line in (stat or "").splitlines() if " " in line)
    cache = sum(int(counted.get(name, 0)) for name in _CACHE)
    return Group(int(limit), max(0, int(used) - cache))
