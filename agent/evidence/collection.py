"""One collection under way: what is left of its seconds and bytes, and what was kept so far.

What may hang is read by a child process (`agent.evidence.reading`) or told by a program in a group of its own; neither
is waited for beyond its deadline. A part that fails is noted with its reason. Decides nothing about order. It must not
know faults, nor S3.
"""

import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.evidence.bounded import BoundedFile
from agent.evidence.masking import mask
from agent.evidence.parts import Program, Read
from agent.evidence.request import EvidencePart
from agent.prober.client import ProbeError, Prober
from agent.programs import ProgramError, run_program

_FIND_SECONDS = 5.0
NO_READER = "readers of earlier collections still hang in the kernel"
Began = Callable[[int], None]
"""Hears the process id of a program of ours."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one collection may take."""

    seconds: float = 60.0
    bytes: int = 64 << 20


class Collection:
    """Used by one thread. ``parts`` is what was kept, or why not."""

    def __init__(self, folder: Path, limits: Limits, reader: Prober | None, ours: Began) -> None:
        """Keep in *folder*; *reader* None: nothing is read that may hang; *ours* hears of each program."""
        self.folder = folder
        self.parts: list[EvidencePart] = []
        self._deadline = time.monotonic() + limits.seconds
        self._bytes = limits.bytes
        self._reader, self._ours = reader, ours

    def find(self, procfs: Path) -> list[int]:
        """Return the processes to look at; none when that cannot be told."""
        if self._reader is None:
            return []
        ask = {"part": "find", "folder": str(self.folder), "procfs": str(procfs)}
        try:
            found: list[int] = self._reader.ask("find", ask, self._seconds(_FIND_SECONDS))["pids"]
        except ProbeError as error:
            self._add(EvidencePart("find", error=str(error)))
            return []
        return found

    def take(self, part: Read | Program) -> None:
        """Collect one part, if anything is left for it."""
        began = time.monotonic()
        if why := self._refused():
            self._add(EvidencePart(part.name, error=why))
        elif isinstance(part, Read):
            self._read(part, began)
        else:
            self._program(part, began)

    def write(self, name: str, lines: Iterable[str], limit: int) -> None:
        """Keep *lines*, masked."""
        began = time.monotonic()
        out = BoundedFile(self.folder / f".{name}", self._left(limit))
        try:
            for line in lines:
                out.line(mask(line))
        finally:
            out.close()
        self._reveal(name)
        self._add(EvidencePart(name, out.size, _since(began), cut=out.cut))

    def _read(self, part: Read, began: float) -> None:
        if self._reader is None:
            self._add(EvidencePart(part.name, error=NO_READER))
            return
        ask = {"part": part.name, "folder": str(self.folder), "limit": self._left(part.limit), **part.asked}
        try:
            files = self._reader.ask(part.name, ask, self._seconds(part.seconds))["files"]
        except ProbeError as error:
            self._salvage()
            self._add(EvidencePart(part.name, 0, _since(began), error=str(error)))
            return
        for told in files:
            self._add(EvidencePart(seconds=_since(began), **told))

    def _program(self, part: Program, began: float) -> None:
        if shutil.which(part.words[0]) is None:
            self._add(EvidencePart(part.name, error=f"there is no {part.words[0]} here"))
            return
        limit = self._left(part.limit)
        out = BoundedFile(self.folder / f".{part.name}", limit)
        seconds, error = self._seconds(part.seconds), ""
        try:
            run_program(
                part.words,
                out,
                seconds=seconds,
                folder=self.folder,
                started=self._ours,
                file_limit=limit if part.writes else None,
            )
        except ProgramError as failure:
            error = str(failure)
        finally:
            out.close()
        self._reveal(part.name)
        self._add(EvidencePart(part.name, out.size, _since(began), cut=out.cut, error=error))
        if part.writes:
            self._written(part.writes, error)

    def _written(self, name: str, error: str) -> None:
        """Note what a program wrote beside what it printed, compressed or not yet."""
        for path in (self.folder / name, self.folder / name.removesuffix(".gz")):
            with suppress(OSError):
                path.chmod(0o600)
                self._add(EvidencePart(path.name, path.stat().st_size, error=error and f"not whole: {error}"))

    def _salvage(self) -> None:
        """Keep what a part that hung had written."""
        for hidden in self.folder.glob(".*"):
            if size := hidden.stat().st_size:
                name = hidden.name.removeprefix(".")
                self._reveal(name)
                self._add(EvidencePart(name, size, cut=True, error="the reader hung; this is as far as it came"))

    def _reveal(self, name: str) -> None:
        """Give a file that is whole its name."""
        (self.folder / f".{name}").rename(self.folder / name)

    def _add(self, part: EvidencePart) -> None:
        self._bytes -= part.bytes
        self.parts.append(part)

    def _seconds(self, wanted: float) -> float:
        return max(0.0, min(wanted, self._deadline - time.monotonic()))

    def _left(self, wanted: int) -> int:
        return max(0, min(wanted, self._bytes))

    def _refused(self) -> str:
        """Return why no part is begun any more; empty: one may."""
        if self._deadline <= time.monotonic():
            return "no time was left"
        return "" if self._bytes > 0 else "no bytes were left"


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
