"""A place in a file, such that after a restart the right file is known again among rotated ones.

It must not know how a file is followed.
"""

import zlib
from typing import Any, NamedTuple

PRINT_BYTES = 64


def print_of(before: bytes) -> str:
    """Return what tells a file from others by the bytes before a place in it, at most PRINT_BYTES."""
    return f"{zlib.crc32(before):08x}-{len(before)}"


class FilePlace(NamedTuple):
    """Behind a line: the bytes ``before`` it stood there, at most PRINT_BYTES. A tuple, as `LogRecord` is."""

    generation: int
    offset: int
    before: bytes
    inode: int = -1  # used again by other files, and so no more than a hint: at offset 0 all files look alike

    def as_json(self) -> dict[str, Any]:
        """See `Place.as_json`."""
        place = {"generation": self.generation, "offset": self.offset, "print": print_of(self.before)}
        return place | {"inode": self.inode}
