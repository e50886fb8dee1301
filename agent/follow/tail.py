"""A log that is a file: follows it through growth, rotation, truncation and restarts.

Decides where to go on, and when records may be missing. A place in a file is (generation, offset): inode numbers are
used again, so each time the file at the path turns out to be another one the generation grows, and the bytes before the
offset must be the ones that were there (`print`). It must not know what a line means beyond when it was written.
"""

import errno
import os
import stat
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.follow.dating import Dating
from agent.follow.places import PRINT_BYTES, FilePlace, print_of
from agent.follow.reader import NO_NOTES, LogGap, LogItem, LogRecord
from agent.follow.rotation import next_of, older_files
from agent.follow.watch import FileWatch
from agent.kernel_log.lines import Line, LineSplitter
from agent.kernel_log.record import KernelRecord, parse_record
from policies.contract.events import Scalar

CHUNK_BYTES = 32 * 1024
_CHUNKS_A_LOOK = 1024
BEFORE_BOOT: dict[str, Scalar] = {"before_boot": True}
Parse = Callable[[str], KernelRecord]


def _no_boot(_descriptor: int) -> int:
    return 0


class FileTail:
    """Follows the file at *path*. It may not exist yet."""

    def __init__(
        self,
        path: Path,
        position: dict[str, Any] | None,
        *,
        clock: Callable[[], datetime],
        start: int | None = 0,
        watch: FileWatch | None = None,
        parse: Parse = parse_record,
        boot_begins: Callable[[int], int] = _no_boot,
    ) -> None:
        """Go on behind *position*; without one at offset *start*, None being the end.

        *watch* is shared, and then `close` leaves it open. *boot_begins* tells of a file's descriptor from which offset
        on its lines are of this boot.
        """
        self._path = path
        self._clock = clock
        self._parse = parse
        self._boot_begins = boot_begins
        self._watch, self._own_watch = watch or FileWatch(), watch is None
        self._watch.renew(path)
        self._position = position
        self._start = None if start is None and position is None else (start or 0)
        self._generation: int = position["generation"] if position else 0
        self._descriptor = -1
        self.inode = -1
        self._boot_offset = 0
        self._splitter = LineSplitter(0)
        self._recent, self._recent_at = b"", 0  # the file's bytes around the end of what was fed, and where they begin
        self._last = FilePlace(self._generation, 0, b"")  # behind the last whole line
        self._dating = Dating(clock, parse)

    def read(self, timeout: float) -> list[LogItem]:
        """Return what is new; see `LogReader`. A file that is not there is nothing new."""
        found = self.look()
        if not found:
            self._watch.wait(timeout)
            found = self.look()
        return found

    def place(self) -> FilePlace | None:
        """Return where it goes on; None while there is no file."""
        return self._last if self._descriptor >= 0 else None

    def close(self) -> None:
        """Let go of the file."""
        if self._own_watch:
            self._watch.close()
        self._close_file()

    def look(self) -> list[LogItem]:
        """Return what is new without waiting."""
        if self._descriptor < 0 and (found := self._open(self._path)):
            return found
        if self._descriptor < 0:
            return []
        for _ in range(_CHUNKS_A_LOOK):  # a chunk may be the middle of a long line
            chunk = os.read(self._descriptor, CHUNK_BYTES)
            if not chunk:
                return self._at_end()
            if found := self._records(self._feed(chunk), chunk):
                return found
        return []

    def _feed(self, chunk: bytes) -> list[Line]:
        kept = self._recent[-PRINT_BYTES:]
        self._recent_at += len(self._recent) - len(kept)
        self._recent = kept + chunk
        return self._splitter.feed(chunk)

    def _at_end(self) -> list[LogItem]:
        """Nothing more to read: is this still the file at the path, and has it not shrunk?"""
        if os.fstat(self._descriptor).st_size < self._splitter.read_to:
            return self._truncated()
        successor = next_of(self._path, self.inode)
        if successor is None:
            return []
        if chunk := os.read(self._descriptor, CHUNK_BYTES):  # written after we looked, before it was replaced
            return self._records(self._feed(chunk), chunk)
        last = self._records(self._splitter.finish(), b"")
        self._close_file()
        self._generation += 1
        return last + self._open(successor)

    def _truncated(self) -> list[LogItem]:
        """Go on in the copy that `copytruncate` made, and if there is none tell that something may be missing."""
        self._close_file()
        if self._open_again(self._last.as_json()):
            return []
        self._open(self._path)
        return [self._gap("truncated")]

    def _open(self, path: Path) -> list[LogItem]:
        """Open the file at *path*; after a restart the one we were in, and if that is gone tell of it."""
        if self._position and self._open_again(self._position):
            return []
        lost, self._position = self._position is not None, None
        try:
            self._descriptor = _open_file(path)
        except FileNotFoundError:
            return []
        size = os.fstat(self._descriptor).st_size
        self._begin(size if self._start is None else min(self._start, size))
        return [self._gap("replaced")] if lost else []

    def _open_again(self, position: dict[str, Any]) -> bool:
        """Find the file of *position*: at the path, or rotated while nobody looked."""
        candidates = [self._path, *older_files(self._path)]
        candidates.sort(key=lambda path: _inode_of(path) != position.get("inode"))  # stable: else the youngest first
        for path in candidates:
            try:
                self._descriptor = _open_file(path)
            except FileNotFoundError:
                continue
            if print_of(self._before(position["offset"])) == position["print"]:
                self._position = None
                self._begin(position["offset"])
                return True
            self._close_file()
        return False

    def _begin(self, offset: int) -> None:
        status = os.fstat(self._descriptor)
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        self.inode = status.st_ino
        self._start = 0
        self._splitter = LineSplitter(offset)
        self._recent = self._before(offset)
        self._recent_at = offset - len(self._recent)
        self._last = FilePlace(self._generation, offset, self._recent, self.inode)
        self._boot_offset = self._boot_begins(self._descriptor)
        self._dating.begin(self._descriptor, status, offset)
        self._watch.renew(self._path)

    def _before(self, offset: int) -> bytes:
        length = min(PRINT_BYTES, offset)
        return os.pread(self._descriptor, length, offset - length)

    def _gap(self, reason: str) -> LogGap:
        """Records may be missing before the file's beginning; go on there, as another generation."""
        self._generation += 1
        return LogGap(
            reason, f"{self._generation}:{reason}", self._clock(), FilePlace(self._generation, 0, b"", self.inode)
        )

    def _close_file(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _records(self, lines: list[Line], chunk: bytes) -> list[LogItem]:
        if not lines:
            return []
        self._last = self._place(lines[-1])
        parsed = [(line, self._parse(line.raw.decode("utf-8", "replace"))) for line in lines]
        portion = self._dating.portion(
            [record for _, record in parsed], self._descriptor, all_read=len(chunk) < CHUNK_BYTES
        )
        return [
            self._record(line, record, portion(record)) for line, record in parsed if not _is_property(line, record)
        ]

    def _record(self, line: Line, record: KernelRecord, at: datetime) -> LogRecord:
        notes = BEFORE_BOOT if line.start < self._boot_offset else NO_NOTES
        return LogRecord(record, f"{self._generation}:{line.start}", at, self._place(line), line.cut, notes)

    def _place(self, line: Line) -> FilePlace:
        end = line.end - self._recent_at
        return FilePlace(self._generation, line.end, self._recent[max(0, end - PRINT_BYTES) : end], self.inode)


def _open_file(path: Path) -> int:
    """Open a regular file and nothing else: whoever opens a pipe waits for a writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def _inode_of(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def _is_property(line: Line, record: KernelRecord) -> bool:
    """Tell a ` KEY=value` line, which belongs to the record before it in the format of /dev/kmsg."""
    if record.seq is not None or not line.raw.startswith(b" "):
        return False
    key, equals, _ = line.raw.partition(b"=")
    return bool(equals) and key[1:].replace(b"_", b"").isupper()
