"""The tables of coordinate in memory, with the same conditions: the twin for tests and the simulator.

It must not be kinder than the tables: a write that does not find what it read raises, reads see every write at once.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from threading import Lock

from policies.coordination.budgets import Budget
from policies.coordination.denying import is_recorded_for_a_no
from policies.coordination.holds import Job
from policies.coordination.incident import Incident, latest_lines
from policies.coordination.leases import Lease
from policies.coordination.notes import Entry
from policies.coordination.snapshot import AnyChange, ConflictError, D, Document, Keys, Snapshot
from policies.coordination.windows import Window
from policies.facts.history import History
from policies.facts.recent import Recent
from policies.precision.misses import Misses
from policies.precision.record import Record

Key = tuple[str, str]  # cluster, id


class MemoryStore:
    """Every document by cluster and id. ``lines`` are the ``T#`` items: incident -> number -> entry."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = Lock()
        self._incidents: dict[Key, Incident] = {}
        self._leases: dict[Key, Lease] = {}
        self._jobs: dict[Key, Job] = {}
        self._budgets: dict[Key, Budget] = {}
        self._windows: dict[Key, Window] = {}
        self._histories: dict[Key, History] = {}
        self._recents: dict[Key, Recent] = {}
        self._records: dict[Key, Record] = {}
        self._misses: dict[Key, Misses] = {}
        self.lines: dict[str, dict[int, Entry]] = {}

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        """Return what *keys* name and what is there."""
        with self._lock:
            return Snapshot(
                cluster,
                _pick(self._incidents, cluster, keys.incidents),
                _pick(self._leases, cluster, keys.leases),
                _pick(self._jobs, cluster, keys.jobs),
                _pick(self._budgets, cluster, keys.budgets),
                windows=_pick(self._windows, cluster, keys.windows),
                histories={each: self._histories.get((cluster, each)) for each in keys.histories},
                recents={each: self._recents.get((cluster, each)) for each in keys.recents},
                records={each: self._records.get((cluster, each)) for each in keys.records},
                misses={each: self._misses.get((cluster, each)) for each in keys.misses},
            )

    def list_running(self, cluster: str) -> tuple[str, ...]:
        """Return the ids of the incidents that an execution should be at work on, longest unchanged first."""
        with self._lock:
            mine = [each for (of, _), each in self._incidents.items() if of == cluster and each.status.is_running]
        return tuple(each.id for each in sorted(mine, key=lambda each: (each.updated_at, each.id)))

    def list_denied(self, cluster: str, since: datetime) -> tuple[str, ...]:
        """Return the ids of what was recorded for a no and changed after *since*."""
        with self._lock:
            mine = [each for (of, _), each in self._incidents.items() if of == cluster and is_recorded_for_a_no(each)]
        return tuple(sorted(each.id for each in mine if each.updated_at > since))

    def list_open(self, cluster: str, jobs: Collection[str]) -> tuple[str, ...]:
        """Return the ids of the open incidents of *jobs*."""
        with self._lock:
            mine = [each for (of, _), each in self._incidents.items() if of == cluster and each.status.is_open]
        return tuple(sorted(each.id for each in mine if each.job and each.job.id in jobs))

    def write(self, change: AnyChange) -> None:
        """Write ``after``; ConflictError when what is stored is not the version of ``before``."""
        after = change.after
        with self._lock:
            if isinstance(after, Incident):
                _put(self._incidents, (after.cluster, after.id), change.before, after)
            elif isinstance(after, Lease):
                _put(self._leases, (after.cluster, after.generation), change.before, after)
            elif isinstance(after, Job):
                _put(self._jobs, (after.cluster, after.id), change.before, after)
            elif isinstance(after, Window):
                _put(self._windows, (after.cluster, after.key), change.before, after)
            elif isinstance(after, History):
                _put(self._histories, (after.cluster, after.instance), change.before, after)
            elif isinstance(after, Recent):
                _put(self._recents, (after.cluster, ""), change.before, after)
            elif isinstance(after, Record):
                _put(self._records, (after.cluster, after.policy), change.before, after)
            elif isinstance(after, Misses):
                _put(self._misses, (after.cluster, ""), change.before, after)
            else:
                _put(self._budgets, (after.cluster, after.scope), change.before, after)

    def write_lines(self, incident: Incident) -> None:
        """Write the timeline items of the incident's newest lines."""
        with self._lock:
            lines = self.lines.setdefault(incident.id, {})
            lines.update({entry.number: entry for entry in latest_lines(incident)})

    def all_incidents(self) -> tuple[Incident, ...]:
        """Return every incident there is, oldest first: for assertions and reports, the tables have no such read."""
        with self._lock:
            return tuple(sorted(self._incidents.values(), key=lambda each: (each.opened_at, each.id)))


def _pick(documents: Mapping[Key, D], cluster: str, ids: frozenset[str]) -> dict[str, D]:
    return {each: documents[cluster, each] for each in ids if (cluster, each) in documents}


def _put(documents: dict[Key, D], key: Key, before: Document | None, after: D) -> None:
    stored = documents.get(key)
    if (stored.version if stored else None) != (before.version if before else None):
        raise ConflictError(f"{type(after).__name__} {key[1]} changed meanwhile.", hint="Read and decide again.")
    documents[key] = after
