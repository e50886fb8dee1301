"""What every reader of a log gives: records in order, each with its place, and gaps where some are missing.

It must not know which log it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from agent.kernel_log.record import KernelRecord
from policies.contract.events import Scalar

READ_AT_MOST = 256  # records a read
MICROSECONDS = 1_000_000
NO_NOTES: Mapping[str, Scalar] = MappingProxyType({})


class Place(Protocol):
    """Where to go on behind a record. Made for every record and written down for few: so it is JSON when asked."""

    def as_json(self) -> dict[str, Any]:
        """Return the place as the reader takes it again."""


@dataclass(frozen=True, slots=True)
class FixedPlace:
    """A place that is known in full."""

    known: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """See `Place.as_json`."""
        return self.known


class LogRecord(NamedTuple):
    """One record. ``key`` names it for all times of this boot. ``notes`` is what the log's reader knows beside it.

    A tuple, since one is made for every line.
    """

    record: KernelRecord
    key: str
    at: datetime
    place: Place
    cut: bool = False
    notes: Mapping[str, Scalar] = NO_NOTES

    @property
    def position(self) -> dict[str, Any]:
        """Where to go on behind it."""
        return self.place.as_json()

    def keyed(self, key: str) -> "LogRecord":
        """Return the same record under another *key*."""
        return self._replace(key=key)

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
    place: Place
    lost: int | None = None

    def keyed(self, key: str) -> "LogGap":
        """Return the same gap under another *key*."""
        return replace(self, key=key)

    @property
    def position(self) -> dict[str, Any]:
        """Where to go on behind it."""
        return self.place.as_json()


LogItem = LogRecord | LogGap


class LogReader(Protocol):
    """A log that is open. One thread uses it."""

    def read(self, timeout: float) -> list[LogItem]:
        """Return what is new, in bounded portions, waiting up to *timeout* seconds; OSError when the log is gone."""

    def place(self) -> Place | None:
        """Return where it goes on; None where that is the beginning, or not known yet."""

    def close(self) -> None:
        """Let go of the log."""
