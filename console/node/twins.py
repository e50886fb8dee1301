"""`relight node` without AWS: commands in memory, names in a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from functions.twins.commands import MemoryCommands
from policies.contract.commands.command import CommandRecord


class MemoryNodeCommands(MemoryCommands):
    """See `NodeCommands` in `console/node/ports.py`."""

    def all_of(self, node: str) -> Sequence[CommandRecord]:
        """See the port."""
        return [record for (of, _), record in self.records.items() if of == node]


@dataclass
class MemoryNames:
    """See `Names` in `console/node/ports.py`."""

    known: Mapping[str, str] = field(default_factory=dict)

    def instance_of(self, name: str) -> str | None:
        """See the port."""
        return self.known.get(name)
