"""Which NVIDIA driver is loaded: from the setting, else from what the driver says of itself.

The driver may be loaded, or replaced, long after the agent has begun, so the file is read again, at most once a minute
and only when somebody asks. Decides the layout in which it prints NVLink errors. It must not know Xids.
"""

import re
import time
from collections.abc import Callable
from pathlib import Path

from policies.contract.catalog.nvlink5 import DriverLayout, layout_of

VERSION_FILE = Path("/proc/driver/nvidia/version")
# NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.148.08  Thu May  1 01:23:45 UTC 2025
# NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (root@host)
_VERSION = re.compile(r"^NVRM version: [^\n]{0,120}?\s([0-9]{3,4}(?:\.[0-9]{1,4}){1,3})\s", re.MULTILINE)
_READ_AGAIN_SECONDS = 60.0


class LoadedDriver:
    """Call it for the layout, None where no driver is loaded or its version cannot be read."""

    def __init__(
        self, setting: str = "", path: Path = VERSION_FILE, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Believe *setting* (``570.148.08`` or ``R570``) where it says something, else read *path*."""
        self._path = path
        self._monotonic = monotonic
        self._setting = layout_of(setting)
        self._found: DriverLayout | None = None
        self._read_at: float | None = None

    def __call__(self) -> DriverLayout | None:
        """Return how the loaded driver prints NVLink errors."""
        if self._setting is not None:
            return self._setting
        now = self._monotonic()
        if self._read_at is None or now - self._read_at >= _READ_AGAIN_SECONDS:
            self._found, self._read_at = self._read(), now
        return self._found

    def _read(self) -> DriverLayout | None:
        try:
            with self._path.open(encoding="ascii", errors="replace") as file:
                match = _VERSION.search(file.read(4096))
        except OSError:
            return None
        return layout_of(match[1]) if match else None
