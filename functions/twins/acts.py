"""The executors' records in memory, beside the incidents and leases of coordinate's twin."""

from datetime import datetime
from threading import Lock

from functions.ports.acts import ActRecord
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Keys


class MemoryActStore:
    """Act records of all incidents of one cluster; the incidents themselves are *store*'s."""

    def __init__(self, store: MemoryStore, cluster: str) -> None:
        """Read incidents of *cluster* from *store*."""
        self._store = store
        self._cluster = cluster
        self._lock = Lock()
        self._acts: dict[tuple[str, Rung, int], ActRecord] = {}

    def load_incident(self, incident_id: str) -> Incident | None:
        """Return the incident's META document."""
        found = self._store.read(self._cluster, Keys(incidents=frozenset({incident_id}))).incidents
        return found.get(incident_id)

    def load_acts(self, incident_id: str, rung: Rung) -> tuple[ActRecord, ...]:
        """Return the records of *rung*, oldest attempt first."""
        mine = [act for (of, its, _), act in self._acts.items() if (of, its) == (incident_id, rung)]
        return tuple(sorted(mine, key=lambda act: act.attempt))

    def intend(self, record: ActRecord) -> ActRecord:
        """Write *record* unless one with its fence or a later one is there; return what stands."""
        key = (record.incident, record.rung, record.attempt)
        with self._lock:
            stands = self._acts.get(key)
            if stands is None or stands.fence < record.fence:
                self._acts[key] = record
            return self._acts[key]

    def report(self, record: ActRecord, report: RungReport, at: datetime) -> None:
        """Store *report* on *record* unless a newer fence wrote there."""
        key = (record.incident, record.rung, record.attempt)
        with self._lock:
            stands = self._acts.get(key)
            if stands and stands.fence == record.fence:
                self._acts[key] = stands.model_copy(update={"report": report, "updated_at": at})


class MemoryLeaseReader:
    """The leases of coordinate's twin."""

    def __init__(self, store: MemoryStore) -> None:
        """Read from *store*."""
        self._store = store

    def load_lease(self, cluster: str, generation: str) -> Lease | None:
        """Return the lease of one node generation."""
        return self._store.read(cluster, Keys(leases=frozenset({generation}))).leases.get(generation)
