"""What coordinate needs of the world: its documents, what may act now, and handle-incident's executions.

It must not know DynamoDB or Step Functions. Twins: `policies/coordination/memory.py`, `functions/twins/`.
Whatever fails for now raises DependencyError.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from policies.contract.decisions import Answer
from policies.coordination.incident import Incident
from policies.coordination.snapshot import AnyChange, ExecutionState, Keys, Snapshot
from policies.coordination.switches import SelfShadow, Switches


class CoordinationStore(Protocol):
    """The documents of one cluster. Reads are consistent, each write is conditional on what was read."""

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        """Return the documents that *keys* name; what is not there is left out."""
        ...

    def list_running(self, cluster: str) -> tuple[str, ...]:
        """Return ids of incidents that run, or did a moment ago: the caller reads them before it believes it."""
        ...

    def list_denied(self, cluster: str, since: datetime) -> tuple[str, ...]:
        """Return ids of what was recorded while a person's no held and changed after *since*; very many are cut."""
        ...

    def list_open(self, cluster: str, jobs: Collection[str]) -> tuple[str, ...]:
        """Return ids of incidents of *jobs* that are open, or were a moment ago; without *jobs* it asks nobody."""
        ...

    def write(self, change: AnyChange) -> None:
        """Write ``change.after``; ConflictError when what is stored is not the version of ``change.before``."""
        ...

    def write_lines(self, incident: Incident) -> None:
        """Write the timeline items of the incident's newest lines; again is the same."""
        ...


class SwitchReader(Protocol):
    """What may act at this moment, read consistently."""

    def read(self, policies: Collection[str]) -> Switches:
        """Return the modes in force of *policies*, whether everything is stopped, and who put itself in shadow."""
        ...


class Switchboard(SwitchReader, Protocol):
    """The same, for whoever puts policies in shadow as well."""

    def put_in_shadow(self, shadow: SelfShadow) -> None:
        """Write *shadow* on top of its version before; ConflictError when that is not the one there."""
        ...


class Sizes(Protocol):
    """How large clusters are, for limits in per cent."""

    def living(self, cluster: str, racks: Collection[str]) -> Mapping[str, int]:
        """Return how many nodes live in each of *racks*, "" being all of *cluster*; 0 when that is unknown."""
        ...


class Executions(Protocol):
    """The executions of handle-incident, named ``<incident>-<attempt>``."""

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        """Start it, unless it was started before, however it ended."""
        ...

    def describe(self, incident: str, attempt: int) -> ExecutionState:
        """Return what became of it."""
        ...

    def answer(self, token: str, answer: Answer) -> bool:
        """Answer the ask that waits with *token*; False when nobody waits with it any more."""
        ...
