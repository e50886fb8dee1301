"""systemd's journal as a log: what journalctl prints, as records with their cursor.

Decides what a missing entry and a line that is no entry are. It must not know faults.
"""

from collections.abc import Callable
from datetime import datetime

from agent.follow.reader import NO_NOTES, FixedPlace, LogGap, LogItem, LogRecord
from agent.follow.tail import BEFORE_BOOT
from agent.journal.child import JournalChild
from agent.journal.entry import JournalEntry, cursor_in, parse_entry
from agent.kernel_log.lines import Line, LineSplitter


class JournalReader:
    """Reads a journal that *child* prints."""

    def __init__(self, child: JournalChild, cursor: str | None, *, boot_id: str, clock: Callable[[], datetime]) -> None:
        """Go on behind the entry with *cursor*, which is the first that *child* prints if it is still there."""
        self._child = child
        self._expected = cursor
        self._boot_id = boot_id.replace("-", "")
        self._clock = clock
        self._splitter = LineSplitter(0)

    def read(self, timeout: float) -> list[LogItem]:
        """Return what is new; see `LogReader`. JournalEndedError when the child is gone."""
        chunk = self._child.read(timeout)
        return [item for line in self._splitter.feed(chunk) for item in self._items(line)] if chunk else []

    def place(self) -> None:
        """See `LogReader`: the journal is read from the beginning of this boot."""

    def close(self) -> None:
        """End the child."""
        self._child.close()

    def _items(self, line: Line) -> list[LogItem]:
        entry = None if line.cut else parse_entry(line.raw)
        if entry is None:
            return self._unreadable(line)
        if self._expected is None:
            return [self._record(entry)]
        expected, self._expected = self._expected, None
        if entry.cursor == expected:
            return []
        # The entry we were at is gone, and with it perhaps others: the journal was rotated or vacuumed.
        gap = LogGap("vacuumed", expected, self._clock(), FixedPlace({"cursor": expected}))
        return [gap, self._record(entry)]

    def _record(self, entry: JournalEntry) -> LogRecord:
        notes = NO_NOTES if entry.boot_id in {"", self._boot_id} else BEFORE_BOOT
        at = min(entry.record.at or self._clock(), self._clock())
        return LogRecord(entry.record, entry.cursor, at, FixedPlace({"cursor": entry.cursor}), notes=notes)

    def _unreadable(self, line: Line) -> list[LogItem]:
        cursor = cursor_in(line.raw)
        if cursor is None:
            return []
        return [LogGap("unreadable", cursor, self._clock(), FixedPlace({"cursor": cursor}), 1)]
