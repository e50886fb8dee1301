"""The table of commands as the agent of one node sees it: what is open, and the steps it may write.

A step that did not hold (somebody else was first, it was given up) is False; a table that is not reached raises
DependencyError, and then the step may have been taken all the same: writing it again is harmless. It must not know
DynamoDB. The twin is `functions/twins/commands.py`.
"""

from typing import Protocol

from policies.contract.commands.command import Claim, CommandRecord, CommandStatus, Look, Result
from policies.contract.commands.operations import Taken


class NodeTable(Protocol):
    """This node's commands. Used by several threads."""

    def look(self) -> Look:
        """Return the commands that are pending or running."""
        ...

    def begin(self, record: CommandRecord, claim: Claim) -> bool:
        """Write that *claim* begins a pending command before it expires."""
        ...

    def end(self, record: CommandRecord, claim: Claim, status: CommandStatus, result: Result) -> bool:
        """Write how a command that *claim* began has ended."""
        ...

    def turn_down(self, record: CommandRecord, result: Result) -> bool:
        """Write that a pending command is refused."""
        ...

    def announce(self, taken: Taken) -> None:
        """Write what this agent takes."""
        ...
