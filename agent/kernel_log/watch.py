"""Wakes a reader when its file changed: inotify where the system has it, else a short sleep.

inotify costs nothing while nothing happens and wakes within a millisecond; Python's library does not offer it, so libc
is called directly. Decides nothing: whoever is woken looks for himself, since a watch may be late, lost or false.
"""

import ctypes
import logging
import os
import select
import time
from pathlib import Path

log = logging.getLogger(__name__)

# linux/inotify.h
_IN_MODIFY, _IN_ATTRIB, _IN_MOVED_TO, _IN_CREATE = 0x2, 0x4, 0x80, 0x100
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_POLL_SECONDS = 0.01


class FileWatch:
    """Watches the file at *path* and its folder (for rotation)."""

    def __init__(self, path: Path) -> None:
        """Start to watch; falls back to polling without raising."""
        self._path = path
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._start()
        self._poll = select.poll()
        if self._descriptor >= 0:
            self._poll.register(self._descriptor, select.POLLIN)
            self.renew()

    def _start(self) -> int:
        try:
            descriptor = int(self._libc.inotify_init1(_NONBLOCK_CLOEXEC))
        except AttributeError:
            descriptor = -1
        if descriptor < 0:
            log.warning("no inotify here, polling instead", extra={"errno": ctypes.get_errno()})
        return descriptor

    def renew(self) -> None:
        """Watch the file that is at the path now."""
        if self._descriptor >= 0:
            self._add(self._path, _IN_MODIFY | _IN_ATTRIB)
            self._add(self._path.parent, _IN_CREATE | _IN_MOVED_TO)

    def _add(self, path: Path, mask: int) -> None:
        self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), mask)

    def wait(self, timeout: float) -> None:
        """Return when something may have changed, at the latest after *timeout* seconds."""
        if self._descriptor < 0:
            time.sleep(min(timeout, _POLL_SECONDS))
        elif self._poll.poll(timeout * 1000):
            os.read(self._descriptor, 4096)

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
