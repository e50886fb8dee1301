"""Wakes a reader when one of its files changed: inotify where the system has it, else a short sleep.

inotify costs nothing while nothing happens and wakes within a millisecond; Python's library does not offer it, so libc
is called directly. One watch serves any number of files with one descriptor: a user has 128 of them by default
(fs.inotify.max_user_instances). Decides nothing: whoever is woken looks for himself, since a watch may be late, lost or
false.
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
_EVENT_BYTES = 16 * 1024


class FileWatch:
    """Watches files and their folders (for rotation); `renew` says which."""

    def __init__(self, *, poll_seconds: float = _POLL_SECONDS) -> None:
        """Watch nothing yet; falls back to looking every *poll_seconds* without raising."""
        self._poll_seconds = poll_seconds
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._start()
        self._poll = select.poll()
        if self._descriptor >= 0:
            self._poll.register(self._descriptor, select.POLLIN)

    def _start(self) -> int:
        try:
            descriptor = int(self._libc.inotify_init1(_NONBLOCK_CLOEXEC))
        except AttributeError:
            descriptor = -1
        if descriptor < 0:
            log.warning("no inotify here, polling instead", extra={"errno": ctypes.get_errno()})
        return descriptor

    def renew(self, path: Path) -> None:
        """Watch the file that is at *path* now, too, and its folder; the kernel forgets a file that is deleted."""
        if self._descriptor >= 0:
            self._add(path, _IN_MODIFY | _IN_ATTRIB)
            self._add(path.parent, _IN_CREATE | _IN_MOVED_TO)

    def _add(self, path: Path, mask: int) -> None:
        self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), mask)

    def wait(self, timeout: float) -> None:
        """Return when something may have changed, at the latest after *timeout* seconds."""
        if self._descriptor < 0:
            time.sleep(min(timeout, self._poll_seconds))
        elif self._poll.poll(timeout * 1000):
            os.read(self._descriptor, _EVENT_BYTES)

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
