"""What triage needs of the world: node states, the rejects store, the way to coordinate, who was heard, figures.

It must not know AWS. The twins are `functions/twins/triage.py`; one set of contract tests holds for both.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple, Protocol

from policies.contract.decisions import FindingsMessage
from policies.contract.errors import DependencyError


class NodeKey(NamedTuple):
    """One node's place in the fleet table."""

    cluster: str
    instance_id: str


@dataclass(frozen=True)
class StoredState:
    """A node's state and the version it was read at; version 0 is a node that has none.

    ``ages``: it was not written for so long that it would be forgotten; write it again though nothing changed.
    """

    text: str = ""
    version: int = 0
    ages: bool = False


@dataclass(frozen=True)
class Commit:
    """What became of the states to be written: ``conflicts`` changed since they were read, ``failed`` took no write."""

    conflicts: frozenset[NodeKey] = frozenset()
    failed: Mapping[NodeKey, DependencyError] = field(default_factory=dict)


class NodeStates(Protocol):
    """``NODE#<instance>#window`` of the fleet table; triage alone writes it."""

    def load(self, keys: Collection[NodeKey], now: datetime) -> Mapping[NodeKey, StoredState]:
        """Return every key's state, read consistently. Raises DependencyError, never a part of the answer."""
        ...

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        """Write each text as version + 1 where the version is still the given one. One node's failure is its own."""
        ...


@dataclass(frozen=True)
class Reject:
    """What could not be used, why, and ``payload``: what to send again once the reason is gone.

    ``id`` is deterministic, so that a repeat is the same reject. ``lane`` is ``faults`` or ``overflow``.
    """

    id: str
    arrived_at: datetime
    lane: str
    reason: str
    hint: str
    payload: bytes
    cluster: str = ""
    instance_id: str = ""

    @property
    def day(self) -> date:
        """The day (UTC) under which it is kept."""
        return self.arrived_at.date()


@dataclass(frozen=True)
class RejectSummary:
    """A line of the list: all but the payload, and its size."""

    id: str
    arrived_at: datetime
    lane: str
    reason: str
    hint: str
    size: int
    cluster: str = ""
    instance_id: str = ""


class RejectStore(Protocol):
    """The rejects store. Failures raise DependencyError."""

    def put(self, rejects: Sequence[Reject]) -> Sequence[Reject]:
        """Keep *rejects* and return the new ones; those that are there already stay as they are."""
        ...

    def list(self, day: date, limit: int = 100) -> Sequence[RejectSummary]:
        """Return what was rejected on *day* (UTC), newest first."""
        ...

    def load(self, line: RejectSummary) -> Reject | None:
        """Return the reject that *line* of a list names, with its payload; None when it is not there any more."""
        ...


class Decisions(Protocol):
    """``decisions.fifo``. Failures raise DependencyError; the message may have arrived all the same."""

    def send(self, message: FindingsMessage) -> None:
        """Send *message* in its cluster's group, under its deduplication id."""
        ...


class Heard(NamedTuple):
    """A sign of life of one node."""

    cluster: str
    instance_id: str
    boot_id: str
    at: datetime


class SeenWriter(Protocol):
    """Keeps when nodes were last heard. Failures raise DependencyError."""

    def write(self, heard: Collection[Heard]) -> None:
        """Keep the time of each node, one write for each bucket they fall into."""
        ...


class Telemetry(Protocol):
    """Figures and remarks; never fails."""

    def count(self, metric: str, value: float = 1) -> None:
        """Add to a counter."""
        ...

    def measure_seconds(self, metric: str, seconds: float) -> None:
        """Record one duration."""
        ...

    def warn(self, message: str, /, **fields: Any) -> None:  # noqa: ANN401 - whatever a log line can show
        """Say something a person should find in the log."""
        ...
