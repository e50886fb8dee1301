"""Which parts a collection has, in which order, and what each may take at most.

What dies first goes first: the stacks of processes that are about to be killed, what lies in their containers; then
what the node keeps a while; NVIDIA's own tools last, since they may take all the time that is left. Decides order and
bounds. It must not know how a part is collected.

Sources: `nvidia-bug-report.sh --safe-mode` leaves out what may hang the system, and still asks the driver for its own
log (its usage text; GPU debug guidelines, 2.2, which say to allow it an hour). `--extra-system-data` is not used: it
lets sysrq print every CPU's backtrace into the kernel's log. `py-spy dump --nonblocking` reads without stopping the
process (its README), so that a run that is alive goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20
BUG_REPORT = "nvidia-bug-report.log"
_STACKS_AT_MOST = 16
_LOGS_AT_MOST = 16


@dataclass(frozen=True, slots=True)
class Place:
    """Where this node's things are seen. ``training_logs`` are paths, not patterns."""

    procfs: Path
    sysfs: Path
    kernel_log: Path
    beats: Path
    training_logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """A part that the child reads: what it is asked besides folder and limit."""

    name: str
    asked: Mapping[str, Any]
    seconds: float
    limit: int


@dataclass(frozen=True, slots=True)
class Program:
    """A part that a program prints into ``name``; ``writes``: it writes that file beside what it prints."""

    name: str
    words: tuple[str, ...]
    seconds: float
    limit: int
    writes: str = ""


def parts_of(place: Place, pids: Sequence[int]) -> list[Read | Program]:
    """Return the parts in their order; *pids* are the processes to look at."""
    proc = {"procfs": str(place.procfs), "pids": list(pids)}
    return [
        Read("states", proc, 5, 4 * MIB),
        *(_stack(pid) for pid in pids[:_STACKS_AT_MOST]),
        Read("dumps", {**proc, "each": 4 * MIB}, 15, 32 * MIB),
        Read("beats", {"beats": str(place.beats)}, 2, MIB),
        Read("logs", {"paths": list(place.training_logs), "at_most": _LOGS_AT_MOST, "each": 256 * 1024}, 5, 4 * MIB),
        Read("kernel", {"kernel_log": str(place.kernel_log)}, 5, 2 * MIB),
        Read("node", proc, 5, MIB),
        Read("fabric", {"sysfs": str(place.sysfs)}, 5, MIB),
        Program("nvidia-smi.txt", ("nvidia-smi", "-q"), 15, 2 * MIB),
        _bug_report(),
    ]


def _stack(pid: int) -> Program:
    return Program(f"stack-{pid}.txt", ("py-spy", "dump", "--nonblocking", "--pid", str(pid)), 5, 512 * 1024)


def _bug_report() -> Program:
    words = ("nvidia-bug-report.sh", "--safe-mode", "--output-file", BUG_REPORT)
    return Program("nvidia-bug-report.txt", words, 45, 16 * MIB, writes=f"{BUG_REPORT}.gz")
