"""Reads of /sys and /proc that never surprise: bounded, never a wait for a writer, one kind of error.

Decides what "not there", "not readable" and "no number" are. A read may still block for as long as a device's firmware
takes to answer; whoever polls says in its deadline how long that may be. One read is made: what a file of /proc with
many records does not give at once is not asked for again. It must not know what a file means. Standard library only.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

PAGE = 4096  # an attribute of sysfs is at most a page (Documentation/filesystems/sysfs.rst)
MAX_ENTRIES = 4096


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is there and could not be read, or says nothing that can be understood."""

    why: str


Number = int | None | Unread
"""A counter: its value, None where the hardware does not have it, or why it could not be read."""


def read_text(path: Path | str, limit: int = PAGE) -> str | None:
    """Return the stripped text at *path*; None when there is none; OSError when it cannot be read."""
    try:
        # Not blocking: should a pipe lie there, opening it would wait for a writer for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return os.read(descriptor, limit).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)


def read_word(path: Path | str) -> str | None:
    """Return the text at *path*, or None when there is none or it cannot be read."""
    try:
        return read_text(path)
    except OSError:
        return None


def read_or_empty(path: Path | str, limit: int = PAGE) -> str:
    """Return the text at *path*, empty when there is none or it cannot be read."""
    try:
        return read_text(path, limit) or ""
    except OSError:
        return ""


def read_number(path: Path) -> Number:
    """Return the number at *path*, decimal or 0x; never raises."""
    try:
        text = read_text(path)
    except OSError as error:
        return Unread(error.strerror or type(error).__name__)
    if text is None:
        return None
    try:
        value = int(text, 0)
    except ValueError:
        return Unread(f"no number: {text[:32]!r}")
    return value if value >= 0 else Unread(f"below zero: {value}")


def entries(folder: Path) -> list[str]:
    """Return the names in *folder*, sorted; none when it is not there; OSError when it cannot be listed.

    The kernel gives plain names; what is called otherwise is not its.
    """
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry, _ in zip(found, range(MAX_ENTRIES), strict=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if name.isascii() and name.isprintable())


def names(folder: Path | str, most: int) -> Iterator[str]:
    """Yield up to so many names in *folder* as they come, whatever they are; none when it cannot be listed."""
    try:
        with os.scandir(folder) as found:
            for entry in islice(found, most):
                yield entry.name
    except OSError:
        return


def link_name(path: Path) -> str | None:
    """Return the last part of where the link at *path* leads, or None when it is no link."""
    try:
        return os.path.basename(os.readlink(path))  # noqa: PTH115, PTH119 - no Path is made of each of many links
    except OSError:
        return None
