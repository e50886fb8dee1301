"""Everything `relight node` works with, whoever built it: AWS (`wiring.py`) or twins (tests)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from console.node.ports import Hands, Names, NodeCommands
from policies.contract.errors import RelightError


class NodeError(RelightError):
    """What was asked cannot be done; the hint says what to do instead."""


@dataclass(frozen=True)
class Parts:
    """The ports of one stack, and its clusters' names. ``pause`` sleeps that many seconds."""

    commands: NodeCommands
    names: Names
    instance_arns: str  # what the ARN of every instance of the stack's account and region begins with
    clock: Callable[[], datetime]
    pause: Callable[[float], None]
    hands: Hands
    clusters: Sequence[str]

    def node(self, named: str) -> str:
        """Return the instance's ARN of *named*: an instance id, its ARN, or a node's name."""
        return named if named.startswith("arn:") else self.instance_arns + self.instance(named)

    def instance(self, named: str) -> str:
        """Return the instance id of *named*, as above."""
        if named.startswith("arn:"):
            return named.rpartition("/")[2]
        instance = named if named.startswith("i-") else self.names.instance_of(named)
        if instance is None:
            raise NodeError(f"no running instance is called {named!r}.", hint="Name the instance id (i-…).")
        return instance
