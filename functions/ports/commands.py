"""Commands to nodes, as the pipeline issues and follows them.

Nothing is sent: the agent of the node asks for what is there over its own outbound connection, which works where
nobody reaches in (HyperPod). It must not know DynamoDB. The twin is `functions/twins/commands.py`.
"""

from datetime import datetime
from typing import Protocol

from policies.contract.commands.command import Command, CommandRecord
from policies.contract.commands.operations import Taken


class Commands(Protocol):
    """The table of commands; every read is consistent. Failures raise DependencyError."""

    def put(self, command: Command) -> CommandRecord:
        """Issue *command* unless one of its id is there; return what stands."""
        ...

    def get(self, node: str, command_id: str) -> CommandRecord | None:
        """Return the command of this id to *node* (an instance's ARN)."""
        ...

    def expire(self, record: CommandRecord, now: datetime) -> CommandRecord:
        """Mark *record* as expired if nobody began it in time; return what stands."""
        ...

    def taken(self, node: str, now: datetime) -> Taken | None:
        """Return what the agent of *node* takes; None when none says so."""
        ...
