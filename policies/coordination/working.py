"""The documents while one decision is being made: read from the snapshot, changed in memory, told apart at the end.

It must not decide anything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from policies.coordination.budgets import Budget
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.snapshot import Change, D, Decision, Reply, Snapshot, Start
from policies.coordination.switches import ALL_ACTIVE, Switches
from policies.coordination.windows import Window
from policies.facts.history import History
from policies.facts.recent import Recent
from policies.precision.misses import Misses
from policies.precision.record import Record


@dataclass
class Working:
    """A snapshot that can be changed. ``index`` is the message being decided, ``switches`` what may act by now."""

    snapshot: Snapshot
    index: int = 0
    incidents: dict[str, Incident] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    budgets: dict[str, Budget] = field(default_factory=dict)
    retold: dict[str, Incident] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)
    starts: dict[tuple[str, int], Start] = field(default_factory=dict)
    windows: dict[str, Window] = field(default_factory=dict)
    histories: dict[str, History] = field(default_factory=dict)
    recents: dict[str, Recent] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    misses: dict[str, Misses] = field(default_factory=dict)
    switches: Switches = ALL_ACTIVE

    @classmethod
    def on(cls, snapshot: Snapshot) -> "Working":
        """Return a working copy of *snapshot*."""
        return cls(
            snapshot,
            incidents=dict(snapshot.incidents),
            leases=dict(snapshot.leases),
            jobs=dict(snapshot.jobs),
            budgets=dict(snapshot.budgets),
            windows=dict(snapshot.windows),
            histories=_there(snapshot.histories),
            recents=_there(snapshot.recents),
            records=_there(snapshot.records),
            misses=_there(snapshot.misses),
            switches=snapshot.switches,
        )

    def copy(self) -> "Working":
        """Return a copy to try one message on."""
        return Working(
            self.snapshot,
            self.index,
            dict(self.incidents),
            dict(self.leases),
            dict(self.jobs),
            dict(self.budgets),
            dict(self.retold),
            list(self.replies),
            dict(self.starts),
            dict(self.windows),
            dict(self.histories),
            dict(self.recents),
            dict(self.records),
            dict(self.misses),
            self.switches,
        )

    def job(self, job_id: str) -> Job:
        """Return the job's holds, empty ones when none were kept yet."""
        return self.jobs.get(job_id) or Job(cluster=self.snapshot.cluster, id=job_id)

    def budget(self, scope: str) -> Budget:
        """Return the scope's reservations, empty ones when none were kept yet."""
        return self.budgets.get(scope) or Budget(cluster=self.snapshot.cluster, scope=scope)

    def start(self, incident: Incident) -> None:
        """Have the incident's current attempt started after the commit."""
        key = (incident.id, incident.attempt)
        self.starts.setdefault(key, Start(self.index, incident.cluster, *key))

    def decision(self, refused: dict[int, Exception]) -> Decision:
        """Return what differs from the snapshot, with the next version each."""
        jobs = tuple(_changes(self.snapshot.jobs, self.jobs))
        budgets = tuple(_changes(self.snapshot.budgets, self.budgets))
        incidents = tuple(
            Change(change.before, _stamped(change.after))
            for change in _changes(self.snapshot.incidents, self.incidents)
        )
        changed = {change.after.id for change in incidents}
        before = self.snapshot.switches.shadows
        return Decision(
            shadows=tuple(each for name, each in self.switches.shadows.items() if before.get(name) != each),
            shared=(*jobs, *budgets),
            leases=tuple(_changes(self.snapshot.leases, self.leases)),
            incidents=incidents,
            windows=tuple(_changes(self.snapshot.windows, self.windows)),
            past=(
                *_changes(_there(self.snapshot.histories), self.histories),
                *_changes(_there(self.snapshot.recents), self.recents),
            ),
            records=(
                *_changes(_there(self.snapshot.records), self.records),
                *_changes(_there(self.snapshot.misses), self.misses),
            ),
            retold=tuple(incident for key, incident in self.retold.items() if key not in changed),
            replies=tuple(self.replies),
            starts=tuple(self.starts.values()),
            refused=refused,
        )


def _there(asked: Mapping[str, D | None]) -> dict[str, D]:
    return {key: document for key, document in asked.items() if document is not None}


def _changes(before: Mapping[str, D], after: Mapping[str, D]) -> Iterator[Change[D]]:
    for key, document in after.items():
        old = before.get(key)
        if old is None:
            yield Change(None, document.model_copy(update={"version": 1}))
        elif old != document:
            yield Change(old, document.model_copy(update={"version": old.version + 1}))


def _stamped(incident: Incident) -> Incident:
    """Return the incident with its version on the timeline entries that it brings."""
    entries = (
        entry if entry.version else entry.model_copy(update={"version": incident.version})
        for entry in incident.timeline
    )
    return incident.model_copy(update={"timeline": tuple(entries)})
