"""A kernel log that is a file: follows it through growth, rotation, truncation and restarts.

Decides where to go on, and when records may be missing. A place in a file is (generation, offset): inode numbers are
used again, so each time the file at the path turns out to be another one the generation grows, and the bytes before the
offset must be the ones that were there (`print`). It must not know formats beyond what `record` reads, nor faults.
"""

import logging
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent.kernel_log.lines import Line, LineSplitter
from agent.kernel_log.reader import LogGap, LogRecord
from agent.kernel_log.record import KernelRecord, parse_record
from agent.kernel_log.watch import FileWatch

log = logging.getLogger(__name__)

CHUNK_BYTES = 32 * 1024
_CHUNKS_A_LOOK = 1024
_PRINT_BYTES = 64
_TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A record's time since boot and when that was."""

    uptime: int
    at: datetime

    def date(self, uptime: int) -> datetime:
        return self.at + timedelta(microseconds=uptime - self.uptime)


class FileTail:
    """Follows the file at *path*. It may not exist yet."""

    def __init__(
        self,
        path: Path,
        position: dict[str, Any] | None,
        *,
        clock: Callable[[], datetime],
        from_end: bool = False,
    ) -> None:
        """Go on behind *position*; without one at the beginning, or with *from_end* at the end."""
        self._path = path
        self._clock = clock
        self._watch = FileWatch(path)
        self._position = position
        self._from_end = from_end and position is None
        self._generation: int = position["generation"] if position else 0
        self._descriptor = -1
        self._inode = -1
        self._splitter = LineSplitter(0)
        self._anchor: _Anchor | None = None

    def read(self, timeout: float) -> list[LogRecord | LogGap]:
        """Return what is new; see `LogReader`. A file that is not there is nothing new."""
        found = self._look()
        if not found:
            self._watch.wait(timeout)
            found = self._look()
        return found

    def close(self) -> None:
        """Let go of the file."""
        self._watch.close()
        self._close_file()

    def _look(self) -> list[LogRecord | LogGap]:
        if self._descriptor < 0 and (found := self._open()):
            return found
        if self._descriptor < 0:
            return []
        for _ in range(_CHUNKS_A_LOOK):  # a chunk may be the middle of a long line
            chunk = os.read(self._descriptor, CHUNK_BYTES)
            if not chunk:
                return self._at_end()
            if found := self._records(self._splitter.feed(chunk), chunk):
                return found
        return []

    def _at_end(self) -> list[LogRecord | LogGap]:
        """Nothing more to read: is this still the file at the path, and has it not shrunk?"""
        if os.fstat(self._descriptor).st_size < self._splitter.read_to:
            self._close_file()
            self._open()
            return [self._gap("truncated")]
        if not self._replaced():
            return []
        last = self._records(self._splitter.finish(), b"")
        self._close_file()
        self._generation += 1
        return last + self._open()

    def _replaced(self) -> bool:
        try:
            return self._path.stat().st_ino != self._inode
        except FileNotFoundError:
            return False  # moved away; the new one comes, and until then the old one is still written to

    def _open(self) -> list[LogRecord | LogGap]:
        """Open the file at the path; after a restart the one we were in, and if that is gone tell of it."""
        if self._position and self._open_again(self._position):
            return []
        lost, self._position = self._position is not None, None
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        self._begin(os.fstat(self._descriptor).st_size if self._from_end else 0)
        return [self._gap("replaced")] if lost else []

    def _open_again(self, position: dict[str, Any]) -> bool:
        """Find the file of *position*: at the path, or rotated to ``path.1`` while nobody looked."""
        for path in (self._path, self._path.with_name(f"{self._path.name}.1")):
            try:
                self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            if self._print_of(position["offset"]) == position["print"]:
                self._position = None
                self._begin(position["offset"])
                return True
            self._close_file()
        return False

    def _begin(self, offset: int) -> None:
        status = os.fstat(self._descriptor)
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        self._inode = status.st_ino
        self._from_end = False
        self._splitter = LineSplitter(offset)
        self._anchor = self._anchor_of_end(status) if offset < status.st_size else None
        self._watch.renew()

    def _print_of(self, offset: int) -> str:
        """Return what tells the open file from others, given that we are at *offset* of it."""
        length = min(_PRINT_BYTES, offset)
        before = os.pread(self._descriptor, length, offset - length)
        return _print(before)

    def _gap(self, reason: str) -> LogGap:
        """Records may be missing before the file's beginning; go on there, as another generation."""
        self._generation += 1
        position = {"generation": self._generation, "offset": 0, "print": _print(b"")}
        return LogGap(reason, f"{self._generation}:{reason}", self._clock(), position)

    def _close_file(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _records(self, lines: list[Line], chunk: bytes) -> list[LogRecord | LogGap]:
        parsed = [(line, parse_record(line.raw.decode("utf-8", "replace"))) for line in lines]
        self._renew_anchor([record for _, record in parsed], chunk)
        return [self._record(line, record) for line, record in parsed if not _is_property(line, record)]

    def _record(self, line: Line, record: KernelRecord) -> LogRecord:
        position = {"generation": self._generation, "offset": line.end, "print": self._print_of(line.end)}
        return LogRecord(record, f"{self._generation}:{line.start}", self._date(record), position, line.cut)

    def _date(self, record: KernelRecord) -> datetime:
        now = self._clock()
        if record.at is not None:
            return min(record.at, now)
        if record.uptime is not None and self._anchor is not None:
            return min(self._anchor.date(record.uptime), now)
        return min(self._modified(), now)

    def _modified(self) -> datetime:
        return datetime.fromtimestamp(os.fstat(self._descriptor).st_mtime, UTC)

    def _renew_anchor(self, records: list[KernelRecord], chunk: bytes) -> None:
        """The file's last record was written when the file was last written."""
        uptimes = [record.uptime for record in records if record.uptime is not None]
        if uptimes and len(chunk) < CHUNK_BYTES:
            self._anchor = _Anchor(uptimes[-1], self._modified())

    def _anchor_of_end(self, status: os.stat_result) -> _Anchor | None:
        tail = os.pread(self._descriptor, _TAIL_BYTES, max(0, status.st_size - _TAIL_BYTES))
        records = (parse_record(line.decode("utf-8", "replace")) for line in reversed(tail.split(b"\n")[-50:]))
        last = next((record.uptime for record in records if record.uptime is not None), None)
        return None if last is None else _Anchor(last, datetime.fromtimestamp(status.st_mtime, UTC))


def _print(before: bytes) -> str:
    return f"{zlib.crc32(before):08x}-{len(before)}"


def _is_property(line: Line, record: KernelRecord) -> bool:
    """Tell a ` KEY=value` line, which belongs to the record before it in the format of /dev/kmsg."""
    key = line.raw.partition(b"=")[0]
    return (
        record.seq is None and line.raw.startswith(b" ") and b"=" in line.raw and key[1:].replace(b"_", b"").isupper()
    )
