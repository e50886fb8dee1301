"""The spool's file: lines that are whole or not there.

A line is ``<crc32 of the rest, 8 hex digits> <JSON object>`` and a newline, written by one write(2) to a file opened
for appending. A process that is killed leaves at most one line without its end, which the next open cuts off. A line
whose checksum is wrong was damaged by the disk: it is skipped and counted, and the lines after it are still read.

Decides what is a good line. It must not know what a line means.
"""

import errno
import json
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHECKSUM_LENGTH = 8


@dataclass(frozen=True, slots=True)
class JournalContents:
    """The good lines of a journal in order, and how many were damaged."""

    entries: list[dict[str, Any]]
    damaged: int


def encode_line(entry: bytes) -> bytes:
    """Return the line for *entry*, JSON text without line breaks."""
    return b"%08x %b\n" % (zlib.crc32(entry), entry)


def _decode_line(line: bytes) -> dict[str, Any] | None:
    checksum, entry = line[:_CHECKSUM_LENGTH], line[_CHECKSUM_LENGTH + 1 :]
    if checksum != b"%08x" % zlib.crc32(entry):
        return None
    try:
        decoded = json.loads(entry)
    except ValueError:
        return None
    return decoded if isinstance(decoded, dict) else None


class Journal:
    """An open journal file. Not safe for threads."""

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        """Use `open_journal` or `write_journal` instead."""
        self.path = path
        self.size = size
        self._descriptor = descriptor

    def append(self, entry: bytes) -> None:
        """Write one line; OSError when it did not go in whole, and then nothing of it stays, or nobody will find it."""
        line = encode_line(entry)
        if os.fstat(self._descriptor).st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, "it was removed", str(self.path))
        written = os.write(self._descriptor, line)
        if written != len(line):  # the disk is full: a regular file takes all or as much as fits
            os.ftruncate(self._descriptor, self.size)
            msg = f"only {written} of {len(line)} bytes went into {self.path}"
            raise OSError(msg)
        self.size += written

    def duplicate(self) -> int:
        """Return a descriptor of the same file for the caller to close: it stays good when this journal is replaced."""
        return os.dup(self._descriptor)

    def close(self) -> None:
        """Close the file; twice is once."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def open_journal(path: Path) -> tuple[Journal, JournalContents]:
    """Open an existing journal for appending, its torn end cut off; FileNotFoundError when there is none."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole != len(raw):
        os.ftruncate(descriptor, whole)
    return Journal(path, descriptor, whole), contents_of(raw)


def contents_of(raw: bytes) -> JournalContents:
    """Return what the whole lines of *raw* say; a last one without its end is none yet."""
    decoded = [_decode_line(line) for line in raw.split(b"\n")[:-1]]
    entries = [entry for entry in decoded if entry is not None]
    return JournalContents(entries, len(decoded) - len(entries))


def write_journal(path: Path, entries: Iterable[bytes]) -> Journal:
    """Replace the journal at *path* by one of *entries*, durably and at once: a crash leaves the old or the new one."""
    fresh = path.with_suffix(".new")
    raw = b"".join(encode_line(entry) for entry in entries)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
    descriptor = os.open(fresh, flags, 0o600)
    journal = Journal(path, descriptor, 0)
    try:
        _write_all(descriptor, raw)
        os.fsync(descriptor)
        fresh.rename(path)
        _sync_folder(path.parent)
    except OSError:
        journal.close()
        raise
    journal.size = len(raw)
    return journal


def _write_all(descriptor: int, raw: bytes) -> None:
    view = memoryview(raw)
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
