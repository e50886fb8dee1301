"""How the node stands: memory, pressure, interrupts, fabric, the end of the kernel's log. In the child process.

Decides which files of the kernel tell something after a fault. It must not know faults.

Sources: proc(5); Documentation/accounting/psi.rst; Documentation/ABI/stable/sysfs-class-infiniband (counters,
hw_counters, state); Documentation/ABI/testing/dev-kmsg.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from agent.evidence.bounded import BoundedFile, chunks, text_or_why

_NODE = (
    *("uptime", "loadavg", "meminfo", "vmstat", "buddyinfo", "pressure/cpu", "pressure/io", "pressure/memory"),
    *("net/dev", "net/snmp", "sys/fs/file-nr", "modules", "driver/nvidia/version", "driver/nvidia/params", "mounts"),
)
_INTERRUPTS_AT_MOST = 64
_ENTRIES_AT_MOST = 512
_PORT_FILES = ("state", "phys_state", "rate", "link_layer", "lid")
_VALUE_BYTES = 256
_RECORD_BYTES = 8192


def write_node(out: BoundedFile, procfs: Path) -> None:
    """Write what /proc tells of the whole node."""
    for name in _NODE:
        if not out.line(f"== {name}\n{text_or_why(procfs / name)}"):
            return
    out.line("== interrupts, the most frequent first")
    for line in busiest(text_or_why(procfs / "interrupts", 1 << 20)):
        if not out.line(line):
            return


def busiest(interrupts: str) -> list[str]:
    """Return a line for each of the most frequent interrupts: its count over all CPUs, its name."""
    counted: list[tuple[int, str]] = []
    lines = interrupts.splitlines()
    cpus = len(lines[0].split()) if lines else 0
    for line in lines[1:]:
        name, _, rest = line.partition(":")
        words = rest.split()
        counts = [int(word) for word in words[:cpus] if word.isdigit()]
        counted.append((sum(counts), f"{name.strip()} {' '.join(words[len(counts) :])}"))
    return [f"{count} {name}" for count, name in sorted(counted, reverse=True)[:_INTERRUPTS_AT_MOST] if count]


def write_fabric(out: BoundedFile, sysfs: Path) -> None:
    """Write every port's state and counters."""
    for line in _fabric(sysfs / "class" / "infiniband"):
        if not out.line(line):
            return


def _fabric(folder: Path) -> Iterator[str]:
    try:
        devices = sorted(folder.iterdir())
    except OSError as error:
        yield f"{folder}: {error.strerror}"
        return
    for device in devices[:_ENTRIES_AT_MOST]:
        for port in sorted((device / "ports").glob("*")):
            yield f"== {device.name}/{port.name}"
            yield from (f"{name}: {text_or_why(port / name, _VALUE_BYTES)}" for name in _PORT_FILES)
            for group in ("counters", "hw_counters"):
                for file in sorted((port / group).glob("*"))[:_ENTRIES_AT_MOST]:
                    yield f"{group}/{file.name}: {text_or_why(file, _VALUE_BYTES)}"


def write_kernel_log(out: BoundedFile, path: Path, limit: int) -> None:
    """Write the last *limit* bytes of the kernel's log, a device or a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        device = stat.S_ISCHR(os.fstat(descriptor).st_mode)
        for data in _records(descriptor, limit) if device else chunks(descriptor, limit, tail=True):
            out.write(data)
    finally:
        os.close(descriptor)


def _records(descriptor: int, limit: int) -> Iterator[bytes]:
    """Return what /dev/kmsg holds, the last *limit* bytes of it; EPIPE says once that older ones are gone."""
    kept: deque[bytes] = deque()
    size = 0
    while True:
        try:
            record = os.read(descriptor, _RECORD_BYTES)
        except BrokenPipeError:
            continue
        except BlockingIOError:
            break
        if not record:
            break
        kept.append(record)
        size += len(record)
        while size > limit:
            size -= len(kept.popleft())
    return iter(kept)


def last_written(paths: list[str], at_most: int) -> list[str]:
    """Return those of *paths* that were written last, newest first."""
    dated: list[tuple[float, str]] = []
    for path in islice(paths, 4 * _ENTRIES_AT_MOST):
        try:
            dated.append((Path(path).stat().st_mtime, path))
        except OSError:
            continue
    return [path for _, path in sorted(dated, reverse=True)[:at_most]]
