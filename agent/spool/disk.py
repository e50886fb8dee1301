"""The spool's place on disk, which may refuse: it is left at the first error and tried again every ten seconds.

Decides when the file is rewritten and when it is given up for a while. It must not know what the lines say.
"""

import logging
import os
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from agent.spool.journal import Journal, write_journal

log = logging.getLogger(__name__)

_GARBAGE_BYTES = 256 * 1024  # a file is rewritten when it is larger than this and mostly says what is done
_RETRY = timedelta(seconds=10)


class Disk:
    """A journal that comes and goes. *contents* gives the lines of a fresh file. Not safe for threads."""

    def __init__(
        self,
        path: Path,
        journal: Journal | None,
        *,
        contents: Callable[[], Iterator[bytes]],
        clock: Callable[[], datetime],
    ) -> None:
        """Go on with *journal*, or with a fresh file at *path*."""
        self._path = path
        self._journal = journal
        self._contents = contents
        self._clock = clock
        self._retry_at = clock()
        self._synced = -1
        self._head = 0  # bytes of the first line, when the file was last written anew

    @property
    def usable(self) -> bool:
        """Whether the last write went in."""
        return self._journal is not None

    @property
    def size(self) -> int:
        """Bytes of the file; 0 while there is none."""
        return self._journal.size if self._journal else 0

    def write(self, line: bytes) -> bool:
        """Append *line*; False when the disk refuses. *contents* must not say yet what *line* says."""
        if self._journal is None and self._may_retry():
            self.rewrite()
        if self._journal is None:
            return False
        try:
            self._journal.append(line)
        except OSError as error:
            self.leave(error)
        return self._journal is not None

    def _may_retry(self) -> bool:
        left = self._retry_at - self._clock()
        return left <= timedelta(0) or left > _RETRY  # more is left than ever was: the wall clock was set back

    def rewrite(self) -> None:
        """Replace the file by a fresh one."""
        lines = list(self._contents())
        try:
            fresh = write_journal(self._path, lines)
        except OSError as error:
            self.leave(error)
            return
        self.close()
        self._journal, self._synced, self._head = fresh, fresh.size, len(lines[0])

    def rewrite_if_mostly_done(self, bytes_waiting: int) -> None:
        """Replace the file when most of it is about events that are done and places that sources left."""
        if self.size > max(_GARBAGE_BYTES, 2 * bytes_waiting + 4 * self._head):
            self.rewrite()

    def leave(self, error: OSError) -> None:
        """Give the file up for a while."""
        told = {"error": str(error), "path": str(self._path)}
        log.critical("spool cannot write; free or remount the disk", extra=told)
        self.close()
        self._retry_at = self._clock() + _RETRY

    def duplicate_unsynced(self) -> int | None:
        """Return a descriptor for the caller to sync and close, valid even when the file is replaced; None: no need."""
        if self._journal is None or self._journal.size == self._synced:
            return None
        self._synced = self._journal.size
        return self._journal.duplicate()

    def close(self) -> None:
        """Let go of the file."""
        if self._journal:
            self._journal.close()
            self._journal = None


def sync_and_close(descriptor: int) -> None:
    """Wait until the file of *descriptor* is durable."""
    try:
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
