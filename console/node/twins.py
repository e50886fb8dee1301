"""`relight node` without AWS: commands in memory, names in a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from functions.twins.commands import MemoryCommands
from policies.contract.commands.command import CommandRecord
from policies.facts.maintenance import Maintenance


class MemoryNodeCommands(MemoryCommands):
    """See `NodeCommands` in `console/node/ports.py`."""

    def all_of(self, node: str) -> Sequence[CommandRecord]:
        """See the port."""
        return [record for (of, _), record in self.records.items() if of == node]


@dataclass
class MemoryNames:
    """See `Names` in `console/node/ports.py`."""

    known: Mapping[str, str] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)  # instance id -> its tag

    def instance_of(self, name: str) -> str | None:
        """See the port."""
        return self.known.get(name)

    def cluster_of(self, instance_id: str) -> str | None:
        """See the port."""
        return self.clusters.get(instance_id)


@dataclass
class MemoryHands:
    """See `Hands` in `console/node/ports.py`."""

    said: dict[tuple[str, str], Maintenance] = field(default_factory=dict)

    def get(self, cluster: str, instance_id: str) -> Maintenance | None:
        """See the port."""
        return self.said.get((cluster, instance_id))

    def put(self, cluster: str, instance_id: str, maintenance: Maintenance) -> None:
        """See the port."""
        self.said[cluster, instance_id] = maintenance

    def everyone(self, cluster: str) -> Mapping[str, Maintenance]:
        """See the port."""
        return {instance: said for (of, instance), said in self.said.items() if of == cluster}
