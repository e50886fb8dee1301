"""When the lines of a file were written.

Decides by the first of: the line's own calendar time; its time since boot, given that the file's last line was written
when the file was last written; when the file was last written. Never in the future. It must not know which file it is.
"""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from agent.kernel_log.record import KernelRecord

_TAIL_BYTES = 64 * 1024
_TAIL_LINES = 50


class Dating:
    """Dates the lines of one file at a time."""

    def __init__(self, clock: Callable[[], datetime], parse: Callable[[str], KernelRecord]) -> None:
        """Know nothing yet."""
        self._clock = clock
        self._parse = parse
        self._anchor: tuple[int, datetime] | None = None  # a time since boot, and when that was

    def begin(self, descriptor: int, status: os.stat_result, offset: int) -> None:
        """Go on with another file, at *offset*: its last line dates those before it."""
        self._anchor = None
        if offset < status.st_size:
            tail = os.pread(descriptor, _TAIL_BYTES, max(0, status.st_size - _TAIL_BYTES))
            lines = reversed(tail.split(b"\n")[-_TAIL_LINES:])
            self._set([self._parse(line.decode("utf-8", "replace")) for line in lines][::-1], _written(status))

    def portion(
        self, records: Sequence[KernelRecord], descriptor: int, *, all_read: bool
    ) -> Callable[[KernelRecord], datetime]:
        """Return what dates *records*, the next of the file; *all_read*: the last of them is the file's last."""
        modified = _written(os.fstat(descriptor))
        if all_read:
            self._set(records, modified)
        now = self._clock()
        written, anchor = min(modified, now), self._anchor

        def date(record: KernelRecord) -> datetime:
            if record.at is not None:
                return min(record.at, now)
            if record.uptime is not None and anchor is not None:
                return min(anchor[1] + timedelta(microseconds=record.uptime - anchor[0]), now)
            return written

        return date

    def _set(self, records: Sequence[KernelRecord], modified: datetime) -> None:
        last = next((record.uptime for record in reversed(records) if record.uptime is not None), None)
        if last is not None:
            self._anchor = last, modified


def _written(status: os.stat_result) -> datetime:
    return datetime.fromtimestamp(status.st_mtime, UTC)
