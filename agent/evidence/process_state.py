"""Where processes stand: state, threads, what each waits for in the kernel. Runs in the child process.

Decides which processes are looked at. Nothing here stops or traces a process. It must not know faults.

Sources: proc(5) (wchan, syscall, stat, status); /proc/<pid>/stack needs CAP_SYS_ADMIN (fs/proc/base.c,
proc_pid_stack); the device files of NVIDIA's driver are /dev/nvidia<minor>.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from agent.evidence.bounded import BoundedFile, text_or_why
from agent.evidence.masking import allowed_variables, mask_words
from agent.evidence.training_files import environment_of
from agent.job.devices import minors_held

PROCESSES_AT_MOST = 32
_THREADS_AT_MOST, _FILES_AT_MOST, _LOOKED_AT = 512, 512, 8192
_STATUS = ("Name", "State", "PPid", "NSpid", "Threads", "VmRSS", "VmSwap", "SigBlk", "SigCgt", "voluntary", "nonvol")
_or_why = partial(text_or_why, limit=4096)


def find_training(procfs: Path) -> list[int]:
    """Return the processes that hold a GPU or have a rank, at most PROCESSES_AT_MOST of them."""
    numbers = sorted(int(entry.name) for entry in islice(procfs.iterdir(), _LOOKED_AT) if entry.name.isdigit())
    holding = [pid for pid in numbers if any(True for _ in minors_held(procfs, pid, most=_FILES_AT_MOST))]
    ranked = [pid for pid in numbers if pid not in set(holding) and _has_rank(procfs / str(pid))]
    return [*holding, *ranked][:PROCESSES_AT_MOST]


def write_states(out: BoundedFile, procfs: Path, pids: Sequence[int]) -> None:
    """Write what the kernel tells of each of *pids* and its threads."""
    for pid in pids[:PROCESSES_AT_MOST]:
        for line in _process(procfs / str(pid)):
            if not out.line(line):
                return


def _process(process: Path) -> Iterator[str]:
    yield f"== {process.name}"
    yield f"command: {' '.join(mask_words(_words(process / 'cmdline')))}"
    status = _or_why(process / "status")
    yield from (line for line in status.splitlines() if line.startswith(_STATUS))
    yield f"cgroup: {_or_why(process / 'cgroup')}"
    yield f"limits: {_line(_or_why(process / 'limits'), 'Max open files')}"
    try:
        variables = allowed_variables(environment_of(process))
        yield f"environment: {' '.join(f'{name}={value}' for name, value in variables.items())}"
    except OSError as error:
        yield f"environment: {error.strerror}"
    try:
        threads = sorted((process / "task").iterdir(), key=lambda thread: int(thread.name))
    except (OSError, ValueError) as error:
        yield f"threads: {error}"
        return
    for thread in threads[:_THREADS_AT_MOST]:
        yield from _thread(thread)


def _thread(thread: Path) -> Iterator[str]:
    stat = _or_why(thread / "stat")
    name, _, rest = stat.partition("(")[2].rpartition(")")
    fields = rest.split()
    state = fields[0] if fields else "?"
    ticks = "+".join(fields[11:13])  # utime and stime are fields 14 and 15 of stat
    waits, call = _or_why(thread / "wchan"), _or_why(thread / "syscall")
    yield f"-- {thread.name} {name} {state} cpu={ticks} wchan={waits} syscall={call}"
    stack = _or_why(thread / "stack")
    yield from (f"     {line}" for line in stack.splitlines())


def _words(path: Path) -> list[str]:
    return _or_why(path).rstrip("\0").split("\0")


def _line(text: str, beginning: str) -> str:
    return next((line for line in text.splitlines() if line.startswith(beginning)), "")


def _has_rank(process: Path) -> bool:
    try:
        environ = environment_of(process)
    except OSError:
        return False
    return any(environ.get(name, "").isdigit() for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"))
