"""What `relight dlq` needs of the world besides the rejects store (`functions/ports/triage.py`).

It must not know AWS. The twins are `console/dlq/twins.py`; one set of contract tests holds for both. Whatever AWS
refuses is a RelightError that says what to do.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from console.dlq.model import Dropped, DroppedBatch, Message, Move, QueueState, Stack


class Stacks(Protocol):
    """CloudFormation."""

    def find(self, name: str) -> Stack:
        """Return the stack; DlqError when there is none."""
        ...


class Queues(Protocol):
    """SQS."""

    def describe(self, url: str) -> QueueState:
        """Return what the queue is and holds."""
        ...

    def oldest(self, state: QueueState) -> datetime | None:
        """Return when the oldest message was sent, None when nobody can tell."""
        ...

    def receive(self, url: str, *, hidden_seconds: int) -> Sequence[Message]:
        """Receive up to ten messages and hide them meanwhile; later ones of a FIFO group wait behind hidden ones."""
        ...

    def release(self, url: str, messages: Sequence[Message]) -> None:
        """Let received messages be seen again at once."""
        ...

    def send(self, url: str, message: Message, *, fifo: bool) -> None:
        """Send a copy: same body, attributes and group; the deduplication id is the message's id."""
        ...

    def delete(self, url: str, message: Message) -> None:
        """Delete a received message; deleting again is fine."""
        ...

    def start_move(self, source_arn: str, destination_arn: str) -> None:
        """Let SQS move all messages. CannotMoveError where it does not do so."""
        ...

    def last_move(self, source_arn: str) -> Move | None:
        """Return the newest move from this queue. CannotMoveError where there are no moves."""
        ...


class Stream(Protocol):
    """The `faults` stream, record by record."""

    def put(self, key: str, data: bytes, *, after: str = "") -> str:
        """Put one record, after the record with sequence number *after* of the same key; return its own number."""
        ...


class Targets(Protocol):
    """Whoever was to get what could not be delivered."""

    def deliver(self, target: str, body: str) -> None:
        """Hand *body* to a queue or topic (by ARN) or a function (ARN or name); nobody waits for what comes of it."""
        ...

    def call(self, function: str, event: Mapping[str, object]) -> Sequence[str]:
        """Invoke a function and wait; return the item ids it reports as failed. DlqError when it raises."""
        ...


class DroppedBatches(Protocol):
    """What the mappings of streams gave up, in the rejects bucket."""

    def list(self) -> Sequence[Dropped]:
        """Return all, oldest first."""
        ...

    def load(self, key: str) -> DroppedBatch:
        """Return one with its payload; DlqError when it is not there or not readable."""
        ...


class Redrives(Protocol):
    """What was sent again and when: marks that outlive the command, so that nobody redrives twice by mistake."""

    def times(self, ids: Collection[str]) -> Mapping[str, datetime]:
        """Return when those of *ids* that were redriven were."""
        ...

    def mark(self, item_id: str, at: datetime) -> None:
        """Keep that *item_id* was redriven; again moves the time."""
        ...
