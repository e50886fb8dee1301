"""Runs a program that may hang, flood or fail: fixed words, no shell, its whole group ended in time.

Decides deadlines and signals. The output is read as it comes and dropped beyond the bound, so that nothing waits for a
full pipe. What hangs in the kernel cannot be killed: it is left, and said. It must not know what a program tells.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

KEPT_BYTES = 512 * 1024  # what DCGM says of eight GPUs is a tenth of it
_CHUNK_BYTES = 64 * 1024
_END_SECONDS = 1.0  # between TERM and KILL, and for the kernel to let go after it
# As root on a node: only folders that root alone writes to. Where programs really are is told by the node's PATH.
_KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR")
# Set between fork and exec without running Python there: `sh` counts in blocks of 512 bytes (POSIX, ulimit).
_LIMITED, _BLOCK_BYTES = ("/bin/sh", "-c", 'ulimit -f "$1"; shift; exec "$@"', "sh"), 512
Started = Callable[[int], None]


class Sink(Protocol):
    """Where the output goes."""

    def write(self, data: bytes) -> bool:
        """Take of *data* what it has room for; tell whether there is more."""


class ProgramError(Exception):
    """It is not there, did not end, or failed; the text says which. ``status`` is None but for one that failed."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Said:
    """What a program said. ``error`` says why it did not end well, else empty.

    ``status`` is None when it was not begun or did not end in time; ``cut``: only the end of what it said was kept.
    """

    output: str
    error: str = ""
    status: int | None = 0
    cut: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, in time, with status 0."""
        return not self.error

    def __str__(self) -> str:
        """Return the error with the last line that the program said."""
        last = next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")
        return f"{self.error}: {last[:300]}" if last else self.error


class _Tail:
    """Keeps the last bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.kept = bytearray()
        self.cut = False

    def write(self, data: bytes) -> bool:
        self.kept += data
        self.cut = self.cut or len(self.kept) > self._limit
        del self.kept[: max(0, len(self.kept) - self._limit)]
        return True


def run(words: Sequence[str], seconds: float, *, errors: bool = True) -> Said:
    """Run *words* for at most *seconds*; never raises for what becomes of it. See `run_program`."""
    tail, why = _Tail(KEPT_BYTES), ""
    status: int | None = 0
    try:
        run_program(words, tail, seconds=seconds, errors=errors)
    except ProgramError as error:
        why, status = str(error), error.status
    return Said(tail.kept.decode("utf-8", "replace"), why, status, tail.cut)


def run_program(
    words: Sequence[str],
    out: Sink,
    *,
    seconds: float,
    errors: bool = True,
    folder: Path | None = None,
    started: Started | None = None,
    environ: Mapping[str, str] | None = None,
    file_limit: int | None = None,
) -> None:
    """Run *words* in a process group of its own for at most *seconds*; ProgramError when it did not end well.

    Its standard error goes to *out* as well, or nowhere. *started* hears its process id, which is its group's and its
    session's too. No file that it writes gets longer than *file_limit* bytes.
    """
    known = os.environ if environ is None else environ
    kept = {name: known[name] for name in _KEPT if name in known} | {"LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            words if file_limit is None else [*_LIMITED, str(file_limit // _BLOCK_BYTES), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors else subprocess.DEVNULL,
            cwd=folder,
            env=kept,
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramError(f"{words[0]} cannot be run ({error.strerror})") from None
    ended = False
    try:
        if started:
            started(process.pid)
        ended = _copy(process, out, time.monotonic() + seconds)
    finally:
        _end_group(process, gently=not ended)
    status = process.poll()
    if not ended:
        left = "" if status is not None else ", and cannot be killed"
        raise ProgramError(f"{words[0]} did not end within {seconds:.0f} s{left}")
    if status:
        raise ProgramError(f"{words[0]} ended with status {status}", status)


def _copy(process: subprocess.Popen[bytes], out: Sink, deadline: float) -> bool:
    """Copy what it says until it ends or time is up; tell whether it ended."""
    assert process.stdout is not None, "it was asked for"
    descriptor = process.stdout.fileno()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0:
        if not poll.poll(min(left, 0.2) * 1000):
            if _is_over(process.pid):
                return True  # a child of its own may hold the pipe open for ever
            continue
        chunk = os.read(descriptor, _CHUNK_BYTES)
        if chunk:
            out.write(chunk)
        elif _is_over(process.pid):
            return True
        else:
            time.sleep(min(left, 0.02))  # it closed its output and goes on
    return False


def _is_over(pid: int) -> bool:
    """Tell whether it ended, and leave it a zombie: while it is one, no other group can get its number."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_group(process: subprocess.Popen[bytes], *, gently: bool) -> None:
    """End whatever is left of the group: also children that outlived their parent."""
    if gently:
        _signal(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + _END_SECONDS
        while not _is_over(process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
    _signal(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    if process.stdout:
        process.stdout.close()


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
