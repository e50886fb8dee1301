"""What `relight node` needs beyond issuing and following one command. It must not know AWS."""

from collections.abc import Sequence
from typing import Protocol

from functions.ports.commands import Commands
from policies.contract.commands.command import CommandRecord


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
