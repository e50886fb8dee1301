"""Runs one of the few programs that operations need: fixed words, no shell, bounded in time and bytes.

Decides how much of its output is kept: the end. It must not know what a program tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from agent.evidence.bounded import BoundedFile
from agent.evidence.programs import ProgramError, run_program

KEPT_BYTES = 512 * 1024  # what DCGM says of eight GPUs is a tenth of it


@dataclass(frozen=True, slots=True)
class Said:
    """What a program said, both its outputs as they came. ``error`` says why it did not end well, else empty."""

    output: str
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, in time, with status 0."""
        return not self.error

    def __str__(self) -> str:
        """Return the error with the last line that the program said."""
        last = next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")
        return f"{self.error}: {last[:300]}" if last else self.error


class _Tail:
    """Keeps the last bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()

    def write(self, data: bytes) -> bool:
        """Take *data*; there is always room."""
        self._kept += data
        del self._kept[: max(0, len(self._kept) - self._limit)]
        return True

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


def run(words: Sequence[str], seconds: float) -> Said:
    """Run *words* for at most *seconds*; never raises for what becomes of it."""
    kept = _Tail(KEPT_BYTES)
    try:
        run_program(words, cast("BoundedFile", kept), seconds=seconds)
    except ProgramError as error:
        return Said(kept.text, str(error))
    return Said(kept.text)
