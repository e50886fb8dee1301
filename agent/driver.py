"""Which NVIDIA driver is loaded: from the setting, else from what the driver says of itself.

The driver may be loaded, or replaced, long after the agent has begun, so the file is read again, at most once a minute
and only when somebody asks. Reading it asks no GPU: the driver prints a constant under the lock of its power management
alone (open-gpu-kernel-modules, kernel-open/nvidia/nv-procfs.c, nv_procfs_read_version), so that a GPU that hangs keeps
nobody waiting. Decides the layout in which it prints NVLink errors. It must not know Xids.
"""

import re
import time
from collections.abc import Callable
from pathlib import Path

from policies.contract.catalog.nvlink5 import DriverLayout, layout_of

VERSION_FILE = Path("/proc/driver/nvidia/version")
# NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.148.08  Thu May  1 01:23:45 UTC 2025
# NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (root@host)
_NUMBER = r"[0-9]{3,4}(?:\.[0-9]{1,4}){1,3}"
_VERSION = re.compile(rf"^NVRM version: [^\n]{{0,120}}?\s({_NUMBER})\s", re.MULTILINE)
_WHOLE = re.compile(_NUMBER)
_READ_AGAIN_SECONDS = 60.0


def version_file(procfs: Path) -> Path:
    """Return where the driver says its version below *procfs*, the node's /proc."""
    return procfs / "driver" / "nvidia" / "version"


class LoadedDriver:
    """Call it for the layout, None where no driver is loaded or its version cannot be read.

    Threads may share one: what they read of the file at the same time is the same.
    """

    def __init__(
        self, setting: str = "", path: Path = VERSION_FILE, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Believe *setting* (``570.148.08`` or ``R570``) where it says something, else read *path*."""
        self._monotonic = monotonic
        self._last = ""
        self.believe(setting, path)

    def believe(self, setting: str, path: Path) -> None:
        """Go by *setting* and *path* from now on, as the agent's settings may change while it runs."""
        wanted = setting.strip()
        self._path, self._layout = path, layout_of(wanted)
        self._setting = wanted if _WHOLE.fullmatch(wanted) and self._layout else ""
        self._found = ""
        self._read_at: float | None = None

    def __call__(self) -> DriverLayout | None:
        """Return how the loaded driver prints NVLink errors."""
        return self._layout or layout_of(self._now())

    def version(self) -> str:
        """Return its version, as ``570.148.08``; empty where none was loaded since the agent began.

        While it is being replaced it is the one before: what is told meanwhile is mostly about that. A setting that
        names only the branch (``R570``) is no version.
        """
        found = self._setting or self._now()
        self._last = found or self._last
        return self._last

    def _now(self) -> str:
        now = self._monotonic()
        if self._read_at is None or now - self._read_at >= _READ_AGAIN_SECONDS:
            self._found, self._read_at = self._read(), now
        return self._found

    def _read(self) -> str:
        try:
            with self._path.open(encoding="ascii", errors="replace") as file:
                match = _VERSION.search(file.read(4096))
        except OSError:
            return ""
        return match[1] if match and layout_of(match[1]) else ""
