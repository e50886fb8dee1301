"""systemd's journal as a source: what the services say that a GPU node depends on.

Decides what happens where there is no journalctl, or none that stays: it is said once, and tried again. It must not
know what the services say.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agent.events import EventMaker
from agent.follow.booting import BootGrace
from agent.follow.reader import LogRecord
from agent.follow.suppressed import parse_suppressed
from agent.follow.work import LogWork, follow
from agent.journal.child import PROGRAM, JournalChild, command
from agent.journal.entry import JOURNALD
from agent.journal.reader import JournalReader
from agent.parsers.programs import parse_program
from agent.parsers.sighting import Sighting
from agent.polls.source import since_boot
from agent.spool.spool import Spool
from policies.contract.vocabulary import Source

log = logging.getLogger(__name__)

NAME = Source.JOURNAL.value
_LOOK_AGAIN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """Which units, the name of this boot, the program to ask, and for how many seconds a boot goes on."""

    units: tuple[str, ...]
    boot_id: str
    program: str = PROGRAM
    boot_grace: float = 0.0


class JournalSource:
    """One thread's work: `run` until told to stop."""

    def __init__(
        self, settings: JournalSettings, spool: Spool, maker: EventMaker, *, clock: Callable[[], datetime]
    ) -> None:
        """Read what *settings* name; events go to *spool*."""
        self._settings = settings
        self._spool = spool
        self._maker = maker
        self._clock = clock
        self._absent = False

    def run(self, stop: threading.Event) -> None:
        """Read until *stop*; JournalEndedError when journalctl ended: call it again later, it goes on where it was."""
        place = self._spool.progress(NAME)
        cursor = place.cursor["cursor"] if place else None
        try:
            child = JournalChild(command(self._settings.units, cursor, self._settings.program))
        except FileNotFoundError:
            self._wait_for_it(stop)
            return
        reader = JournalReader(child, cursor, boot_id=self._settings.boot_id, clock=self._clock)
        grace = BootGrace(self._settings.boot_grace, self._clock, since_boot)
        work = LogWork(NAME, self._spool, self._maker, lambda item: grace.noted(classify_entry(item), item.at), place)
        follow(reader, work, stop)

    def _wait_for_it(self, stop: threading.Event) -> None:
        if not self._absent:
            log.warning("no journalctl here: what services say is not read", extra={"program": self._settings.program})
        self._absent = True
        stop.wait(_LOOK_AGAIN_SECONDS)


def classify_entry(item: LogRecord) -> list[Sighting]:
    """Return what an entry of the journal tells of."""
    record = item.record
    if record.tag == JOURNALD:
        return parse_suppressed(record.text, NAME)
    return parse_program(record.tag or "", record.text)
