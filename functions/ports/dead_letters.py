"""Where coordinate puts a message that can never become right: the dead letters of its queue, beside the reason.

Decides what is said beside the body. It must not know AWS's clients. The twin is `functions/twins/dead_letters.py`; one
set of contract tests holds for both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from policies.contract.identifiers import stable_id

REASON_LETTERS = 1000
# A message may be 1 MiB, its attributes counted in, and 256 KiB where the queue is older (SQS quotas). A body that was
# near the limit must still get through, so it goes alone; the reason takes 4 bytes a letter at most.
FULL_BYTES = 256 * 1024 - 8 * 1024
# SQS API reference, SendMessage: any other letter is refused, and with it the whole message.
_REFUSED_LETTERS = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class DeadLetter:
    """A message as the queue brought it, and why nobody can take it.

    ``id`` names its stay in the queue: the same however often it comes again, another one after a redrive. ``error`` is
    the error's class, ``received`` how often the queue had handed the message out.
    """

    id: str
    group: str
    body: str
    reason: str
    error: str
    received: int

    @property
    def deduplication_id(self) -> str:
        """Return the same id for the same stay: a repeat after a crash is no second letter."""
        return stable_id("dead letter", self.id)

    @property
    def attributes(self) -> Mapping[str, str]:
        """Return what stands beside the body, in letters that a queue takes; nothing beside a body that fills it."""
        if len(self.body.encode("utf-8", "surrogatepass")) > FULL_BYTES:
            return {}
        told = {"reason": self.reason[:REASON_LETTERS], "error": self.error, "received": str(self.received)}
        return {name: _REFUSED_LETTERS.sub("?", text) or "?" for name, text in told.items()}


class DeadLetters(Protocol):
    """``decisions-dlq``. Failures raise DependencyError; the letter may have arrived all the same."""

    def send(self, letter: DeadLetter) -> None:
        """Put the body of *letter* there with its attributes, in its group, under its deduplication id."""
        ...
