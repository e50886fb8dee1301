"""The ports of `console/incident/ports.py` in memory: incidents are those of coordinate's own twin."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from policies.contract.decisions import CloseMessage
from policies.contract.restraints import ApproveMessage, VerdictMessage
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore


@dataclass
class MemoryIncidents:
    """Reads *store*."""

    store: MemoryStore

    def open(self, cluster: str) -> Sequence[Incident]:
        """See the port."""
        return _last_changed(each for each in self._of(cluster) if each.status.is_open)

    def closed(self, cluster: str, since: datetime) -> Sequence[Incident]:
        """See the port."""
        return _last_changed(each for each in self._of(cluster) if not each.status.is_open and each.updated_at > since)

    def of_node(self, cluster: str, instance_id: str) -> Sequence[Incident]:
        """See the port."""
        return [each for each in reversed(self._of(cluster)) if each.node.instance_id == instance_id]

    def of_job(self, cluster: str, job: str) -> Sequence[Incident]:
        """See the port."""
        return [each for each in reversed(self._of(cluster)) if each.job and each.job.id == job]

    def load(self, incident_id: str) -> Incident | None:
        """See the port."""
        return next((each for each in self.store.all_incidents() if each.id == incident_id), None)

    def _of(self, cluster: str) -> list[Incident]:
        return [each for each in self.store.all_incidents() if each.cluster == cluster]


def _last_changed(incidents: Iterable[Incident]) -> Sequence[Incident]:
    return sorted(incidents, key=lambda each: each.updated_at, reverse=True)


@dataclass
class MemoryClosings:
    """What was sent, and when."""

    sent: list[tuple[CloseMessage | ApproveMessage | VerdictMessage, datetime]] = field(default_factory=list)

    def send(self, message: CloseMessage | ApproveMessage | VerdictMessage, at: datetime) -> None:
        """See the port."""
        if all(known != (message, at) for known in self.sent):
            self.sent.append((message, at))
