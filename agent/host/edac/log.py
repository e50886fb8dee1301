"""Whether the kernel's log tells the memory errors that EDAC counts: each is printed there as well, and told once.

Decides who speaks. It must not know counters.

Source: drivers/edac/edac_mc.c (edac_ce_error, edac_ue_error: printed unless the parameter edac_mc_log_ce or _ue is 0).
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from agent.kernel_files import read_word

_RECORD_BYTES = 8192  # PRINTKRB_RECORD_MAX: a smaller buffer gets EINVAL


@dataclass(frozen=True, slots=True)
class Told:
    """What the log tells: corrected and uncorrected errors, and whether it still holds all since boot."""

    corrected: bool
    uncorrected: bool
    since_boot: bool


SILENT = Told(corrected=False, uncorrected=False, since_boot=False)


@dataclass(frozen=True, slots=True)
class KernelLog:
    """The log that the agent reads, at *path*."""

    path: Path
    sysfs: Path

    def told(self) -> Told:
        """Try to read the log as the agent's other source does."""
        first = _first_record(self.path)
        if first is None:
            return SILENT
        return Told(self._prints("ce"), self._prints("ue"), since_boot=first == 0)

    def _prints(self, what: str) -> bool:
        return read_word(self.sysfs / f"module/edac_core/parameters/edac_mc_log_{what}") != "0"


def _first_record(path: Path) -> int | None:
    """Return the number of the oldest record that is kept, 0 for a file; None when the log cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISCHR(os.fstat(descriptor).st_mode):
            return 0
        return int(os.read(descriptor, _RECORD_BYTES).split(b",", 2)[1])
    except (OSError, ValueError, IndexError):  # overrun while it was read, or nothing kept: it reaches back to no boot
        return 1
    finally:
        os.close(descriptor)
