"""The lines of one object, unpacked piece by piece.

Decides what becomes of an object that is cut off or damaged: what could be read goes on, the rest is told. It must not
know what a line means.
"""

import zlib
from collections.abc import Iterator

from functions.ports.archive import ArchiveReader
from policies.contract.archive import BadLine
from simulator.archive.reading import Told

READ_BYTES = 1024 * 1024
UNPACKED_BYTES = 1024 * 1024  # at once: an object that unpacks to a hundred times its size fills no memory
# A record of Kinesis has 10 MiB at most, as base64 a third more; an item of DynamoDB 400 KiB.
LONGEST_LINE = 16 * 1024 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_Numbered = tuple[int, bytes]


def lines_of(reader: ArchiveReader, key: str, told: Told) -> Iterator[_Numbered]:
    """Yield number (from 1) and text of each line of the object *key*. DependencyError when it cannot be read."""
    rest, number = b"", 0
    for piece in _unpacked(reader, key, told):
        told.text += len(piece)
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        for line in lines:
            number += 1
            yield number, line
        if len(rest) > LONGEST_LINE:
            told.refuse(BadLine(key, number + 1, f"it has more than {LONGEST_LINE} bytes; the rest is left out."))
            return
    if rest.strip():
        told.refuse(BadLine(key, number + 1, "it is cut off."))


def _unpacked(reader: ArchiveReader, key: str, told: Told) -> Iterator[bytes]:
    """Yield what is inside; objects that were put together of several are read to the end."""
    gunzip = zlib.decompressobj(_GZIP)
    begun = False
    for packed in _pieces(reader, key):
        told.size += len(packed)
        left = packed
        while left:
            if gunzip.eof:
                gunzip, begun = zlib.decompressobj(_GZIP), False
            begun = True
            try:
                piece = gunzip.decompress(left, UNPACKED_BYTES)
            except zlib.error as error:
                told.refuse(BadLine(key, 0, f"it is damaged ({error}); what is behind it is left out."))
                return
            left = gunzip.unused_data if gunzip.eof else gunzip.unconsumed_tail
            if piece:
                yield piece
    if not begun:
        told.refuse(BadLine(key, 0, "it is empty, or gone since it was listed."))
    elif not gunzip.eof:
        told.refuse(BadLine(key, 0, "it is cut off: it was not written to its end."))


def _pieces(reader: ArchiveReader, key: str) -> Iterator[bytes]:
    start = 0
    while piece := reader.read(key, start, READ_BYTES):
        yield piece
        start += len(piece)
        if len(piece) < READ_BYTES:
            return
