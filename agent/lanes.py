"""How envelopes leave the node: the port, and its twin in memory.

A lane either has the envelope when `put` returns, or raises DependencyError: then it may have it all the same (the
answer may be lost), and the caller sends it again; receivers know seqs. It must not know what is in an envelope.
"""

from typing import Protocol

from policies.contract.errors import DependencyError


class EnvelopeLane(Protocol):
    """One way out. Used by one thread."""

    def put(self, body: bytes, key: str) -> None:
        """Deliver *body*, an envelope of node *key*; DependencyError when refused, unreachable, or nobody knows."""


class MemoryLane:
    """Keeps what was put. ``refuses`` makes it raise instead; ``forgets_answers`` makes it keep and raise."""

    def __init__(self) -> None:
        """Empty, and willing."""
        self.delivered: list[tuple[str, bytes]] = []
        self.refuses = False
        self.forgets_answers = False

    def put(self, body: bytes, key: str) -> None:
        """See `EnvelopeLane.put`."""
        if not self.refuses:
            self.delivered.append((key, body))
        if self.refuses or self.forgets_answers:
            msg = "the lane in memory refuses."
            raise DependencyError(msg, hint="It is told to.")
