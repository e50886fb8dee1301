"""The values that `relight dlq` works with. They must not know AWS's clients or how they are printed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from policies.contract.errors import RelightError


class DlqError(RelightError):
    """What was asked cannot be done; the hint says what to do instead."""


class CannotMoveError(RelightError):
    """SQS does not move messages from this queue by itself: move them one by one."""


@dataclass(frozen=True)
class Stack:
    """What CloudFormation tells of one deployment: outputs by key, and the URLs of all its queues."""

    name: str
    outputs: Mapping[str, str]
    queue_urls: Sequence[str]

    def output(self, key: str) -> str:
        """Return one output; DlqError when the stack has none of this name."""
        if key not in self.outputs:
            raise DlqError(
                f"the stack {self.name} has no output {key}.", hint="It is no stack of Relight, or an old one: deploy."
            )
        return self.outputs[key]


@dataclass(frozen=True)
class QueueState:
    """One queue as SQS describes it. ``dead_letters`` is the ARN it redrives to, empty for a queue that does not."""

    url: str
    arn: str
    fifo: bool
    depth: int
    in_flight: int = 0
    dead_letters: str = ""


@dataclass(frozen=True)
class DeadQueue:
    """A queue where messages come to rest. ``source`` is the queue they come from, None when no queue sends them."""

    name: str
    state: QueueState
    source: QueueState | None = None
    source_name: str = ""
    oldest: datetime | None = None


@dataclass(frozen=True)
class Message:
    """One message as received. ``attributes`` are the sender's own texts. The receipt is good for this receive only.

    ``given_up_by`` is the ARN of the queue that SQS took it from after too many receives, else empty.
    """

    id: str
    body: str
    sent_at: datetime
    receives: int
    receipt: str = ""
    group: str = ""
    given_up_by: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Move:
    """SQS's own moving of messages, as far as it is."""

    status: str  # RUNNING, COMPLETED, CANCELLING, CANCELLED, FAILED
    moved: int = 0
    to_move: int = 0
    failure: str = ""

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return self.status in {"RUNNING", "CANCELLING"}


@dataclass(frozen=True)
class Dropped:
    """An object of the rejects bucket in which a mapping left a batch that it gave up."""

    key: str
    at: datetime
    size: int


@dataclass(frozen=True)
class StreamRecord:
    """One record of a Kinesis stream, as it was put there."""

    key: str
    data: bytes
    sequence: str


@dataclass(frozen=True)
class DroppedBatch:
    """What stands in such an object. ``records`` are those of Kinesis; a table's changes are only in ``event``."""

    key: str
    condition: str
    tries: int
    function: str
    stream: str
    event: Mapping[str, object]
    records: Sequence[StreamRecord] = ()

    @property
    def is_table(self) -> bool:
        """Whether the batch comes from a table's stream rather than from Kinesis."""
        return ":dynamodb:" in self.stream


Status = Literal["redriven", "planned", "refused", "failed"]


@dataclass(frozen=True)
class Outcome:
    """What became of one item: ``refused`` and ``failed`` are still where they were."""

    id: str
    status: Status
    detail: str = ""

    @property
    def is_left(self) -> bool:
        """Whether it still waits for somebody."""
        return self.status in {"refused", "failed"}
