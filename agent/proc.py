"""What /proc says of one process: how it is, since when, what it used, who it is elsewhere.

Another user's process tells this too. What cannot be read is None, and nothing raises. It must not know jobs.

Sources: proc_pid_stat(5), proc_pid_status(5); include/linux/sched.h for the flags.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent.kernel_files import names, read_or_empty

TICK = os.sysconf("SC_CLK_TCK")
PF_EXITING = 0x4
_SIGKILL = 1 << 8
_STATUS_BYTES = 8192
_MOST_PROCESSES = 65536
_MOST_CHILDREN, _MOST_THREADS = 256, 1024
_STATUS = re.compile(r"^(Uid|NSpid|SigPnd|ShdPnd):\s*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """One process. ``state`` is the kernel's letter, ``started`` and ``cpu`` are in seconds (since boot; used)."""

    pid: int
    name: str
    state: str
    parent: int
    flags: int
    started: float
    cpu: float
    wait_status: int  # of a zombie, where this process may see it

    @property
    def is_stopped(self) -> bool:
        """Whether somebody stopped it: a signal or a debugger."""
        return self.state in ("T", "t")

    @property
    def is_alive(self) -> bool:
        """Whether it still runs: no zombie, not dead."""
        return self.state not in ("Z", "X", "x")


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """``pids`` is its pid in each namespace from /proc's own inwards; ``killed``: a SIGKILL waits for it."""

    uid: int | None
    pids: tuple[int, ...]
    killed: bool


def parse_stat(text: str) -> ProcessStat | None:
    """Return what a line of /proc/<pid>/stat says; a name may hold anything, so the last bracket counts."""
    head, bracket, tail = text.rpartition(")")
    pid, _, name = head.partition("(")
    words = tail.split()
    with suppress(ValueError, IndexError):
        return ProcessStat(
            pid=int(pid),
            name=name,
            state=words[0],
            parent=int(words[1]),
            flags=int(words[6]),
            started=int(words[19]) / TICK,
            cpu=(int(words[11]) + int(words[12])) / TICK,
            wait_status=int(words[49]) if bracket and len(words) > 49 else 0,  # noqa: PLR2004 - proc_pid_stat(5): 52
        )
    return None


def read_stat(proc: Path, pid: int) -> ProcessStat | None:
    """Return how process *pid* is; None when it is gone."""
    return parse_stat(read_or_empty(f"{proc}/{pid}/stat"))


def read_status(proc: Path, pid: int) -> ProcessStatus:
    """Return more of process *pid*; a process that is gone has no user and no pids."""
    found = {
        name: words.split() for name, words in _STATUS.findall(read_or_empty(f"{proc}/{pid}/status", _STATUS_BYTES))
    }
    with suppress(ValueError, IndexError):
        pending = int(found.get("SigPnd", ["0"])[0], 16) | int(found.get("ShdPnd", ["0"])[0], 16)
        pids = tuple(int(word) for word in found.get("NSpid", ()))
        return ProcessStatus(int(found["Uid"][1]) if "Uid" in found else None, pids, bool(pending & _SIGKILL))
    return ProcessStatus(None, (), killed=False)


def pid_namespace(proc: Path, pid: int | str) -> int | None:
    """Return the number of the namespace that *pid* counts its pids in; None when this process may not know it."""
    try:
        link = os.readlink(f"{proc}/{pid}/ns/pid")  # noqa: PTH115 - a Path for each of 10,000 processes costs
    except OSError:
        return None
    number = link.removeprefix("pid:[").removesuffix("]")
    return int(number) if number.isdigit() else None


def pids_of(proc: Path) -> set[int]:
    """Return the processes there are."""
    return {int(name) for name in names(proc, _MOST_PROCESSES) if name.isdigit()}


def live_threads(proc: Path, pid: int) -> int:
    """Return how many threads of *pid* still run; a process whose first thread ended looks like a zombie."""
    threads = (name for name in names(f"{proc}/{pid}/task", _MOST_THREADS) if name.isdigit())
    found = (parse_stat(read_or_empty(f"{proc}/{pid}/task/{thread}/stat")) for thread in threads)
    return sum(1 for one in found if one and one.is_alive)


def cpu_of_tree(proc: Path, stat: ProcessStat) -> float:
    """Return the seconds of CPU that a process and its children have used."""
    children = (
        child for child in read_or_empty(f"{proc}/{stat.pid}/task/{stat.pid}/children").split() if child.isdigit()
    )
    stats = (read_stat(proc, int(child)) for child in islice(children, _MOST_CHILDREN))
    return stat.cpu + sum(one.cpu for one in stats if one)
