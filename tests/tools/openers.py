"""What opens an archive in another process, or fails to: functions that a pickle finds by their names."""

import os
import signal
from pathlib import Path

from functions.adapters.archive_folder import FolderArchive
from functions.ports.archive import ArchiveReader
from policies.contract.errors import DependencyError


def refused() -> ArchiveReader:
    """Raise as a reader does that is not let in."""
    raise DependencyError("the bucket refuses.", hint="See who you are.")


def broken() -> ArchiveReader:
    """Raise as a defect does."""
    raise ZeroDivisionError


def killed() -> ArchiveReader:
    """End this process as the kernel does where memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class DyingArchive(FolderArchive):
    """An archive in a folder that ends the first process that gets *at_day* far in it, once."""

    def __init__(self, root: Path, at_day: str) -> None:
        """Look below *root*."""
        super().__init__(root)
        self._mark = root / "ended"
        self._at_day = at_day

    def read(self, key: str, start: int, length: int) -> bytes:
        """See the port."""
        if self._at_day in key:
            try:
                self._mark.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().read(key, start, length)
