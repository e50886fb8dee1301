"""Bytes of a growing file into whole lines, each with where it begins and ends.

Decides when a line is whole: at its newline; a line longer than LINE_LIMIT is cut there, flagged, and its rest skipped
without being held. It must not know files.
"""

from dataclasses import dataclass

LINE_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its newline; ``start`` and ``end`` are offsets in the file, ``end`` behind the newline."""

    raw: bytes
    start: int
    end: int
    cut: bool = False


class LineSplitter:
    """Holds the unfinished last line, at most LINE_LIMIT bytes of it."""

    def __init__(self, offset: int) -> None:
        """Begin at *offset* of the file."""
        self._start = offset  # of the unfinished line
        self._read = offset
        self._held = b""

    @property
    def read_to(self) -> int:
        """Up to where the file was fed."""
        return self._read

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines that *chunk*, the next bytes of the file, makes whole."""
        lines: list[Line] = []
        for piece in _split(chunk):
            self._held += piece[: LINE_LIMIT + 1 - len(self._held)]
            self._read += len(piece)
            if piece.endswith(b"\n"):
                lines.append(self._finish())
        return lines

    def finish(self) -> list[Line]:
        """Return the last line even without its newline: nobody will write to this file any more."""
        return [self._finish()] if self._read > self._start else []

    def _finish(self) -> Line:
        raw = self._held.removesuffix(b"\n")
        line = Line(raw[:LINE_LIMIT], self._start, self._read, cut=len(raw) > LINE_LIMIT)
        self._held, self._start = b"", self._read
        return line


def _split(chunk: bytes) -> list[bytes]:
    """Split behind each newline, and nowhere else (bytes.splitlines splits at carriage returns too)."""
    pieces = [piece + b"\n" for piece in chunk.split(b"\n")]
    pieces[-1] = pieces[-1][:-1]
    return [piece for piece in pieces if piece]
