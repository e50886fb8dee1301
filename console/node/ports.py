"""What `relight node` needs beyond issuing and following one command. It must not know AWS."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from functions.ports.commands import Commands
from policies.contract.commands.command import CommandRecord
from policies.facts.maintenance import Maintenance


class NodeCommands(Commands, Protocol):
    """The table of commands, as a person sees it."""

    def all_of(self, node: str) -> Sequence[CommandRecord]:
        """Return every command to *node* (an instance's ARN) that is kept, in no order."""
        ...


class Names(Protocol):
    """Whose name is whose."""

    def instance_of(self, name: str) -> str | None:
        """Return the id of the running instance with this private DNS name, which is the node's on EKS."""
        ...

    def cluster_of(self, instance_id: str) -> str | None:
        """Return what the instance's tag ``relight:cluster`` says, "" without one; None when EC2 knows no such one."""
        ...


class Hands(Protocol):
    """Which nodes people have in hand."""

    def get(self, cluster: str, instance_id: str) -> Maintenance | None:
        """Return what was last said of the node, over or not."""
        ...

    def put(self, cluster: str, instance_id: str, maintenance: Maintenance) -> None:
        """Say *maintenance* of the node, in place of what was said before."""
        ...

    def everyone(self, cluster: str) -> Mapping[str, Maintenance]:
        """Return, by instance id, what was last said of the nodes; what is over long since may be left out."""
        ...
