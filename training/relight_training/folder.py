"""Which folder the beat file goes to, and what dead processes left there.

It must not know what a beat says. It makes nothing that nobody asked for: where /run/relight/beats is missing no agent
watches, and a folder of our own inside a container would only hide that.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import struct
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

from relight_training.layout import BEAT_AT, HEADER_AT, HEADER_LENGTH_AT, HEADER_LIMIT, MAGIC, SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping

ENVIRONMENT = "RELIGHT_BEATS"
DEFAULT = "/run/relight/beats"
OFF = "off"
_LOOKED_AT = 512
# A process in another container cannot be asked whether it lives; without a lock and so long without a beat it is not.
_FOREIGN_SILENCE = 600.0


def candidates(environ: Mapping[str, str], default: str = DEFAULT) -> list[tuple[str, bool]]:
    """Return the folders to try, and whether each may be made; none when the environment says ``off``."""
    asked = environ.get(ENVIRONMENT, "").strip()
    if asked.lower() == OFF:
        return []
    return [*([(asked, True)] if asked else []), (default, False)]


def namespace_of_pids() -> int:
    """Return the number of this process's pid namespace, 0 where /proc does not tell."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def sweep(folder: str, pid_namespace: int) -> list[str]:
    """Remove what processes that are gone left in *folder*, at most 512 looked at; what was removed. Never raises."""
    removed = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _LOOKED_AT):
            if entry.name.endswith((".beat", ".tmp")):
                with contextlib.suppress(OSError):
                    if _stale(entry.path, pid_namespace):
                        os.unlink(entry.path)
                        removed.append(entry.path)
    return removed


def _stale(path: str, pid_namespace: int) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > SIZE:
            return False
        if path.endswith(".tmp"):  # never locked here: its maker wants to
            return status.st_mtime < time.time() - _FOREIGN_SILENCE
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False  # its process lives, wherever
        page = os.read(descriptor, SIZE)
        if len(page) < SIZE or not page.startswith(MAGIC):
            return False  # not ours
        return _its_process_is_gone(page, pid_namespace)
    finally:
        os.close(descriptor)


def _its_process_is_gone(page: bytes, pid_namespace: int) -> bool:
    header = _header(page)
    pid, namespace = header.get("pid"), header.get("pid_namespace")
    beat_at = struct.unpack_from("<Q", page, BEAT_AT * 8)[0] / 1e9
    if isinstance(pid, int) and pid > 0 and namespace == pid_namespace:
        return pid == os.getpid() or not _lives(pid, beat_at)  # this process has locked what is its own
    silent = time.clock_gettime(time.CLOCK_BOOTTIME) - beat_at
    return not 0 <= silent < _FOREIGN_SILENCE  # a beat that lies ahead is of another boot


def _header(page: bytes) -> dict[str, Any]:
    length = min(struct.unpack_from("<I", page, HEADER_LENGTH_AT)[0], HEADER_LIMIT)
    try:
        header = json.loads(page[HEADER_AT : HEADER_AT + length])
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def _lives(pid: int, beat_at: float) -> bool:
    """Whether *pid* is the process that beat at *beat_at*: one that began later only has its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # somebody else's, which lives
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            ticks = int(file.read(4096).rpartition(")")[2].split()[19])  # proc(5): field 22, starttime
    except (OSError, ValueError, IndexError):
        return True
    return ticks / os.sysconf("SC_CLK_TCK") <= beat_at
