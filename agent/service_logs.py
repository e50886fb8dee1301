"""Files that services write their own log to, or syslog does: each a source of its own.

Decides which program wrote a line: the one that the file is named for, else the one that the line names. The kernel's
lines in a syslog file are left to the kernel log. It must not know what a line means.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agent.events import EventMaker
from agent.follow.booting import BootGrace
from agent.follow.reader import LogItem, LogReader, LogRecord, Place
from agent.follow.suppressed import parse_suppressed
from agent.follow.tail import FileTail
from agent.follow.work import LogWork, follow
from agent.parsers.programs import parse_program
from agent.parsers.sighting import Sighting
from agent.polls.source import since_boot
from agent.spool.spool import Spool
from policies.contract.vocabulary import Source

_BY_NAME = {
    "fabricmanager": "nv-fabricmanager",
    "nvidia-fabricmanager": "nv-fabricmanager",
    "nvidia-imex": "nvidia-imex",
    "slurmd": "slurmd",
    "containerd": "containerd",
    "kubelet": "kubelet",
}


def program_of(path: Path) -> str | None:
    """Return the program whose own log *path* is; None for a log of several."""
    return _BY_NAME.get(path.name.partition(".")[0])


class ServiceLogSource:
    """One thread's work: `run` until told to stop."""

    def __init__(
        self, path: Path, spool: Spool, maker: EventMaker, *, clock: Callable[[], datetime], boot_grace: float = 0.0
    ) -> None:
        """Read the file at *path*, which may not exist yet; events go to *spool*. *boot_grace* is in seconds."""
        self.name = f"{Source.JOURNAL}:{path}"
        self._path = path
        self._program = program_of(path)
        self._spool = spool
        self._maker = maker
        self._clock = clock
        self._boot_grace = boot_grace

    def run(self, stop: threading.Event) -> None:
        """Read until *stop*; OSError when the log cannot be read: call it again later, it goes on where it was."""
        place = self._spool.progress(self.name)
        start = None if self._path.exists() else 0  # what stands there at the first start may be years old
        tail = FileTail(self._path, place.cursor if place else None, clock=self._clock, start=start)
        grace = BootGrace(self._boot_grace, self._clock, since_boot)
        work = LogWork(
            self.name, self._spool, self._maker, lambda item: grace.noted(self._classify(item), item.at), place
        )
        follow(_Named(tail, str(self._path)), work, stop)

    def _classify(self, item: LogRecord) -> list[Sighting]:
        record = item.record
        program = self._program or record.tag or ""
        return parse_program(program, record.text) or parse_suppressed(record.text, self.name)


class _Named:
    """Two files have the same offsets, so a key names its file."""

    def __init__(self, reader: LogReader, name: str) -> None:
        self._reader = reader
        self._name = name

    def read(self, timeout: float) -> list[LogItem]:
        return [item.keyed(f"{self._name}:{item.key}") for item in self._reader.read(timeout)]

    def place(self) -> Place | None:
        return self._reader.place()

    def close(self) -> None:
        self._reader.close()
