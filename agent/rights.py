"""What this process may not see on this node, why that is, and what to do about it.

Decides by trying, not by who we are: a capability does as well as root. It must not know sources.

Sources: capabilities(7); proc(5): /proc/<pid>/environ, fd and root need CAP_SYS_PTRACE, /proc/<pid>/stack CAP_SYS_ADMIN
(fs/proc/base.c); /dev/kmsg CAP_SYSLOG where kernel.dmesg_restrict is 1.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.settings import Settings

KERNEL_LOG = "the kernel log"
_SYS_PTRACE, _SYS_ADMIN, _DAC_READ_SEARCH = 19, 21, 2  # linux/capability.h
_JOURNALS = ("/var/log/journal", "/run/log/journal")


@dataclass(frozen=True, slots=True)
class Missing:
    """``what`` is off; ``cure`` turns it on."""

    what: str
    cure: str


def missing(settings: Settings, capabilities: int | None = None, user: int | None = None) -> Iterator[Missing]:
    """Yield what is off for want of rights; the process's own *capabilities* and *user* unless given."""
    has = own_capabilities() if capabilities is None else capabilities
    root = (os.geteuid() if user is None else user) == 0
    if not _may_open(settings.kernel_log):
        yield Missing(KERNEL_LOG, "CAP_SYSLOG")
    if settings.journal_units and not root and not journal_is_readable():
        yield Missing("the journal", "the group systemd-journal")
    if not _has(has, _SYS_PTRACE):
        yield Missing("other users' processes (who holds a GPU, rank, flight recorder)", "CAP_SYS_PTRACE")
    if not _has(has, _SYS_ADMIN):
        yield Missing("kernel stacks of processes", "CAP_SYS_ADMIN")
    if not _has(has, _DAC_READ_SEARCH):
        yield Missing("other users' files", "CAP_DAC_READ_SEARCH")
    if not root and shutil.which("nvidia-bug-report.sh"):
        yield Missing("nvidia-bug-report", "root")


def one_line(settings: Settings) -> str:
    """Return all of it in a line; empty where nothing is off."""
    found = list(missing(settings))
    if not found:
        return ""
    who = "not root" if os.geteuid() else "root without all capabilities"
    off, cures = ", ".join(one.what for one in found), ", ".join(dict.fromkeys(one.cure for one in found))
    return f"{who}: off are {off}; to turn them on give {cures}, or run as root"


def own_capabilities() -> int:
    """Return the effective capabilities of this process as bits."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("CapEff:"):
                return int(line.split()[1], 16)
    return 0


def _has(capabilities: int, bit: int) -> bool:
    return bool(capabilities >> bit & 1)


def journal_is_readable() -> bool:
    """Tell whether this process may read systemd's journal; where there is none, nothing forbids it."""
    there = [path for path in _JOURNALS if Path(path).exists()]
    return not there or any(os.access(path, os.R_OK) for path in there)


def _may_open(path: Path) -> bool:
    """Tell whether *path* can be opened, as far as rights go: what is not there yet may come."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except PermissionError:
        return False
    except OSError:
        return True
    return True
