"""/dev/kmsg, the kernel's own log: one read(2) a record, numbered by the kernel.

Decides where to go on after a restart and what an overrun cost (the kernel answers EPIPE once and goes on at the oldest
record it still has; the numbers tell how many are gone). It must not know faults.

Source: Documentation/ABI/testing/dev-kmsg; kernel/printk/printk.c (PRINTKRB_RECORD_MAX: a buffer of 8 KiB holds any).
"""

import errno
import os
import select
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from agent.follow.reader import MICROSECONDS, READ_AT_MOST, FixedPlace, LogGap, LogItem, LogRecord
from agent.kernel_log.record import KernelRecord, parse_record

RECORD_BYTES = 8192
# A record younger than this is dated by the arrival: the kernel's log clock drifts from the wall clock over weeks.
_FRESH = timedelta(seconds=2)


class DeviceReader:
    """Reads /dev/kmsg, or in tests any file descriptor that behaves so."""

    def __init__(
        self,
        descriptor: int,
        position: dict[str, Any] | None,
        *,
        boot_id: str,
        clock: Callable[[], datetime],
        uptime: Callable[[], float],
    ) -> None:
        """Go on behind *position* if it is of this boot, else at the oldest record; *uptime* is in seconds."""
        self._descriptor = descriptor
        self._boot_id = boot_id
        self._clock = clock
        self._uptime = uptime
        same_boot = position is not None and position.get("boot") == boot_id
        self._last: int | None = position["seq"] if position and same_boot else None
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def read(self, timeout: float) -> list[LogItem]:
        """Return what is new; see `LogReader`."""
        self._poll.poll(timeout * 1000)
        found: list[LogItem] = []
        while len(found) < READ_AT_MOST:
            try:
                raw = os.read(self._descriptor, RECORD_BYTES)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno == errno.EPIPE:
                    continue
                raise
            if not raw:
                break
            found += self._take(parse_record(raw.decode("utf-8", "replace")))
        return found

    def place(self) -> None:
        """See `LogReader`: the kernel keeps its log from its beginning on."""

    def close(self) -> None:
        """Let go of the device."""
        os.close(self._descriptor)

    def _take(self, record: KernelRecord) -> list[LogItem]:
        seq = record.seq
        if seq is None or (self._last is not None and seq <= self._last):
            return []  # read before the restart
        last, self._last = self._last, seq
        place = FixedPlace({"boot": self._boot_id, "seq": seq})
        taken: list[LogItem] = []
        if last is not None and seq > last + 1:
            before = FixedPlace({"boot": self._boot_id, "seq": seq - 1})
            taken.append(LogGap("overrun", f"{last + 1}-{seq - 1}", self._clock(), before, seq - last - 1))
        return [*taken, LogRecord(record, str(seq), self._date(record), place)]

    def _date(self, record: KernelRecord) -> datetime:
        now = self._clock()
        age = timedelta(seconds=self._uptime() - (record.uptime or 0) / MICROSECONDS)
        return now if age < _FRESH else now - age


def open_device(
    path: str,
    position: dict[str, Any] | None,
    *,
    boot_id: str,
    clock: Callable[[], datetime],
    uptime: Callable[[], float],
) -> DeviceReader:
    """Open the device at *path*; OSError when this process may not."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    return DeviceReader(descriptor, position, boot_id=boot_id, clock=clock, uptime=uptime)
