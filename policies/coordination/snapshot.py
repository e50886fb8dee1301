"""What one decision reads, and what it hands back: documents before, changed documents and effects after.

Documents are changed only under the condition that they are as they were read. It must not know tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from policies.contract.decisions import Answer
from policies.contract.errors import RelightError
from policies.coordination.budgets import Budget
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.switches import ALL_ACTIVE, SelfShadow, Switches
from policies.coordination.windows import Window
from policies.facts.capacity import Capacity
from policies.facts.history import History
from policies.facts.maintenance import Maintenance
from policies.facts.recent import Recent
from policies.precision.misses import Misses
from policies.precision.record import Record

Document = Incident | Lease | Job | Budget | Window | History | Recent | Record | Misses
D = TypeVar("D", Incident, Lease, Job, Budget, Window, History, Recent, Record, Misses)


class ConflictError(RelightError):
    """A document is no longer as it was read: read again and decide again."""


@dataclass(frozen=True)
class Keys:
    """What to read of one cluster: incident ids, node generations, job ids, budget scopes, windows.

    ``histories`` are instance ids; ``recents`` holds "" where the cluster's recent faults are asked for, ``misses``
    likewise. ``records`` are names of policies.
    """

    incidents: frozenset[str] = frozenset()
    leases: frozenset[str] = frozenset()
    jobs: frozenset[str] = frozenset()
    budgets: frozenset[str] = frozenset()
    windows: frozenset[str] = frozenset()
    histories: frozenset[str] = frozenset()
    recents: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()
    misses: frozenset[str] = frozenset()

    def __or__(self, other: "Keys") -> "Keys":
        """Return all keys of both."""
        return Keys(
            self.incidents | other.incidents,
            self.leases | other.leases,
            self.jobs | other.jobs,
            self.budgets | other.budgets,
            self.windows | other.windows,
            self.histories | other.histories,
            self.recents | other.recents,
            self.records | other.records,
            self.misses | other.misses,
        )

    def __sub__(self, other: "Keys") -> "Keys":
        """Return the keys that *other* lacks."""
        return Keys(
            self.incidents - other.incidents,
            self.leases - other.leases,
            self.jobs - other.jobs,
            self.budgets - other.budgets,
            self.windows - other.windows,
            self.histories - other.histories,
            self.recents - other.recents,
            self.records - other.records,
            self.misses - other.misses,
        )

    def __bool__(self) -> bool:
        """Whether there is anything to read."""
        return any(
            (
                *(self.incidents, self.leases, self.jobs, self.budgets),
                *(self.windows, self.histories, self.recents),
                *(self.records, self.misses),
            )
        )


class ExecutionState(StrEnum):
    """What became of one execution of handle-incident."""

    ABSENT = "absent"  # never started
    RUNNING = "running"
    ENDED = "ended"  # however it ended


@dataclass(frozen=True)
class Snapshot:
    """The documents of one cluster as they were read; what is absent was not there.

    ``sizes`` is scope -> number of nodes, for limits in per cent; ``executions`` is name -> state, for the sweep;
    ``switches`` says which policies may act at this moment, ``maintenance`` which nodes (instance ids) people have in
    hand, ``capacity`` what the cluster could get (None: not asked for, or unknown). Of ``histories``, ``recents``,
    ``records`` and ``misses`` each that was asked for is there, None where nothing was kept yet.
    """

    cluster: str
    incidents: Mapping[str, Incident] = field(default_factory=dict)
    leases: Mapping[str, Lease] = field(default_factory=dict)
    jobs: Mapping[str, Job] = field(default_factory=dict)
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    executions: Mapping[str, ExecutionState] = field(default_factory=dict)
    switches: Switches = ALL_ACTIVE
    windows: Mapping[str, Window] = field(default_factory=dict)
    histories: Mapping[str, History | None] = field(default_factory=dict)
    recents: Mapping[str, Recent | None] = field(default_factory=dict)
    records: Mapping[str, Record | None] = field(default_factory=dict)
    misses: Mapping[str, Misses | None] = field(default_factory=dict)
    maintenance: Mapping[str, Maintenance] = field(default_factory=dict)
    capacity: Capacity | None = None

    def merged(self, other: "Snapshot") -> "Snapshot":
        """Return both in one; what *other* read later counts. What is read once, such as switches, stays."""
        return Snapshot(
            self.cluster,
            {**self.incidents, **other.incidents},
            {**self.leases, **other.leases},
            {**self.jobs, **other.jobs},
            {**self.budgets, **other.budgets},
            {**self.sizes, **other.sizes},
            {**self.executions, **other.executions},
            self.switches,
            {**self.windows, **other.windows},
            {**self.histories, **other.histories},
            {**self.recents, **other.recents},
            {**self.records, **other.records},
            {**self.misses, **other.misses},
            maintenance=self.maintenance,
            capacity=self.capacity,
        )


@dataclass(frozen=True)
class Change(Generic[D]):
    """Write ``after`` if what is stored has the version of ``before`` (None: if nothing is stored)."""

    before: D | None
    after: D


Kept = Change[Window] | Change[History] | Change[Recent] | Change[Record] | Change[Misses]
AnyChange = Change[Incident] | Change[Lease] | Change[Job] | Change[Budget] | Kept


@dataclass(frozen=True)
class Reply:
    """Answer the ask that message ``index`` of the batch made."""

    index: int
    token: str
    answer: Answer


@dataclass(frozen=True)
class Start:
    """Start handle-incident for this attempt; a repeat is the same execution. Caused by message ``index``."""

    index: int
    cluster: str
    incident: str
    attempt: int


@dataclass(frozen=True)
class Decision:
    """Writes in four rounds (see `rounds`), ``shadows`` behind the first, then the effects and ``past``.

    A shadow names the incident that was too many, so that whoever died behind that write ends it as it was decided.
    ``refused`` is index -> error of the messages that fail alone. ``retold`` are incidents that stay as they are, whose
    last timeline entries are to be written again: the writer may have died in between.
    """

    shadows: tuple[SelfShadow, ...] = ()
    shared: tuple[Change[Job] | Change[Budget], ...] = ()
    records: tuple[Change[Record] | Change[Misses], ...] = ()
    leases: tuple[Change[Lease], ...] = ()
    incidents: tuple[Change[Incident], ...] = ()
    windows: tuple[Change[Window], ...] = ()
    past: tuple[Change[History] | Change[Recent], ...] = ()
    retold: tuple[Incident, ...] = ()
    replies: tuple[Reply, ...] = ()
    starts: tuple[Start, ...] = ()
    refused: Mapping[int, Exception] = field(default_factory=dict)

    @property
    def rounds(self) -> tuple[tuple[AnyChange, ...], ...]:
        """Return the writes in the order that survives a crash in between.

        Jobs and budgets first: who leaves a job must have left it before its lease is released, or another would count
        on a hold that nobody lets go. Records of policies with them: who loses its trust by one is put in shadow next.
        Then leases, then the incidents that rely on all of it. Windows last: what is counted is not counted again, so
        what it led to must be there. ``past`` comes behind, beside the effects.
        """
        return (*self.shared, *self.records), self.leases, self.incidents, self.windows
