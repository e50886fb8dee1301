"""What every reader of a kernel log gives: records in order, each with its place, and gaps where some are missing.

It must not know which log it is.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from agent.kernel_log.record import KernelRecord

READ_AT_MOST = 256  # records a read of the device
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record. ``key`` names it for all times of this boot; ``position`` is where to go on behind it."""

    record: KernelRecord
    key: str
    at: datetime
    position: dict[str, Any]
    cut: bool = False

    @property
    def ticks(self) -> int:
        """The record's own time in microseconds: since boot where the log says so."""
        uptime = self.record.uptime
        return uptime if uptime is not None else int(self.at.timestamp() * MICROSECONDS)


@dataclass(frozen=True, slots=True)
class LogGap:
    """Records that are gone: ``lost`` counts them where the log numbers them, else None. ``key`` names the gap."""

    reason: str
    key: str
    at: datetime
    position: dict[str, Any]
    lost: int | None = None


class LogReader(Protocol):
    """A log that is open. One thread uses it."""

    def read(self, timeout: float) -> list[LogRecord | LogGap]:
        """Return what is new, in bounded portions, waiting up to *timeout* seconds; OSError when the log is gone."""

    def close(self) -> None:
        """Let go of the log."""
