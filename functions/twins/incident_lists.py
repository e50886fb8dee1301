"""Lists of incidents in memory: those of coordinate's own twin."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore


@dataclass
class MemoryIncidentLists:
    """See `functions/ports/incident_lists.py`."""

    store: MemoryStore

    def open(self, cluster: str, most: int) -> Sequence[Incident]:
        """See the port."""
        return _newest((each for each in self._of(cluster) if each.status.is_open), most)

    def closed(self, cluster: str, since: datetime, most: int) -> Sequence[Incident]:
        """See the port."""
        over = (each for each in self._of(cluster) if not each.status.is_open and each.updated_at > since)
        return _newest(over, most)

    def _of(self, cluster: str) -> list[Incident]:
        return [each for each in self.store.all_incidents() if each.cluster == cluster]


def _newest(incidents: Iterable[Incident], most: int) -> Sequence[Incident]:
    return sorted(incidents, key=lambda each: each.updated_at, reverse=True)[:most]
