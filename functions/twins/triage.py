"""Triage's ports in memory: the same promises as the AWS adapters, for tests, simulation and figures."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from functions.ports.triage import Commit, Heard, NodeKey, Reject, RejectSummary, StoredState
from policies.contract.decisions import FindingsMessage

KEPT = timedelta(days=14)


class MemoryNodeStates:
    """``stored`` maps a node to its text, version and when it was written."""

    def __init__(self) -> None:
        """Start with no node known."""
        self.stored: dict[NodeKey, tuple[str, int, datetime]] = {}

    def load(self, keys: Collection[NodeKey], now: datetime) -> Mapping[NodeKey, StoredState]:
        """See the port."""
        return {key: self._one(key, now) for key in keys}

    def _one(self, key: NodeKey, now: datetime) -> StoredState:
        if key not in self.stored:
            return StoredState()
        text, version, written_at = self.stored[key]
        return StoredState(text, version, ages=now - written_at > KEPT / 2)

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        """See the port."""
        conflicts = {key for key, state in states.items() if self._one(key, now).version != state.version}
        for key, state in states.items():
            if key not in conflicts:
                self.stored[key] = (state.text, state.version + 1, now)
        return Commit(conflicts=frozenset(conflicts))


class MemoryRejects:
    """``kept`` maps (day, arrival, id) to the reject."""

    def __init__(self) -> None:
        """Start empty."""
        self.kept: dict[tuple[date, datetime, str], Reject] = {}

    def put(self, rejects: Sequence[Reject]) -> Sequence[Reject]:
        """See the port."""
        return [one for one in rejects if self.kept.setdefault((one.day, one.arrived_at, one.id), one) is one]

    def list(self, day: date, limit: int = 100) -> Sequence[RejectSummary]:
        """See the port."""
        found = [self.kept[key] for key in sorted(self.kept, reverse=True) if key[0] == day]
        return [
            RejectSummary(
                id=one.id,
                arrived_at=one.arrived_at,
                lane=one.lane,
                reason=one.reason,
                hint=one.hint,
                size=len(one.payload),
                cluster=one.cluster,
                instance_id=one.instance_id,
            )
            for one in found[:limit]
        ]

    def load(self, line: RejectSummary) -> Reject | None:
        """See the port."""
        return self.kept.get((line.arrived_at.date(), line.arrived_at, line.id))


class MemoryDecisions:
    """``sent`` holds every message that was sent; ``arrived`` each deduplication id once, as the queue delivers."""

    def __init__(self) -> None:
        """Start empty."""
        self.sent: list[FindingsMessage] = []

    @property
    def arrived(self) -> list[FindingsMessage]:
        """Return what coordinate would get within five minutes."""
        return list({(one.cluster, one.deduplication_id): one for one in self.sent}.values())

    def send(self, message: FindingsMessage) -> None:
        """See the port."""
        self.sent.append(message)


class MemorySeen:
    """Both sides of who was heard: `SeenWriter` and `Heartbeats`. ``writes`` counts the calls."""

    def __init__(self) -> None:
        """Start with nobody heard."""
        self._heard: dict[tuple[str, str], Heard] = {}
        self.writes = 0

    def write(self, heard: Collection[Heard]) -> None:
        """See the port."""
        self.writes += 1
        self._heard.update({(one.cluster, one.instance_id): one for one in heard})

    def last_seen(self, cluster: str, instance_id: str) -> datetime | None:
        """See `functions/ports/heartbeats.py`."""
        found = self._heard.get((cluster, instance_id))
        return None if found is None else found.at

    def everyone(self, cluster: str) -> Mapping[str, Heard]:
        """Return every node of *cluster* by instance id."""
        return {one.instance_id: one for one in self._heard.values() if one.cluster == cluster}


class MemoryTelemetry:
    """``counts`` adds up, ``seconds`` and ``remarks`` are kept in order."""

    def __init__(self) -> None:
        """Start with nothing told."""
        self.counts: Counter[str] = Counter()
        self.seconds: list[tuple[str, float]] = []
        self.remarks: list[tuple[str, dict[str, Any]]] = []

    def count(self, metric: str, value: float = 1) -> None:
        """See the port."""
        self.counts[metric] += int(value)

    def measure_seconds(self, metric: str, seconds: float) -> None:
        """See the port."""
        self.seconds.append((metric, seconds))

    def warn(self, message: str, /, **fields: Any) -> None:  # noqa: ANN401 - see the port
        """See the port."""
        self.remarks.append((message, fields))
