"""The ports of `console/dlq/ports.py` in memory. Time stands still unless *clock* moves it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count

from console.dlq.model import CannotMoveError, DlqError, Dropped, DroppedBatch, Message, Move, QueueState, Stack
from policies.contract.errors import DependencyError

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_PER_RECEIVE = 10


@dataclass
class MemoryStacks:
    """Stacks by name."""

    stacks: dict[str, Stack] = field(default_factory=dict)

    def find(self, name: str) -> Stack:
        """See the port."""
        if name not in self.stacks:
            raise DlqError(f"there is no stack {name!r}.", hint="Name it with --stack.")
        return self.stacks[name]


@dataclass
class _Held:
    message: Message
    hidden_until: datetime = _EPOCH


@dataclass
class _Queue:
    state: QueueState
    held: list[_Held] = field(default_factory=list)


@dataclass
class MemoryQueues:
    """Queues by URL. ``unsendable`` are URLs that take nothing, ``moves`` says whether this SQS knows moves."""

    clock: Callable[[], datetime] = lambda: _EPOCH
    moves: bool = True
    unsendable: set[str] = field(default_factory=set)
    _queues: dict[str, _Queue] = field(default_factory=dict)
    _last: dict[str, Move] = field(default_factory=dict)
    _numbers: "count[int]" = field(default_factory=count)

    def create(self, name: str, *, fifo: bool = False, dead_letters: str = "") -> QueueState:
        """Make a queue."""
        url, arn = f"https://sqs/{name}", f"arn:aws:sqs:us-east-1:123456789012:{name}"
        self._queues[url] = _Queue(QueueState(url, arn, fifo, 0, 0, dead_letters))
        return self._queues[url].state

    def describe(self, url: str) -> QueueState:
        """See the port."""
        queue = self._queue(url)
        hidden = sum(held.hidden_until > self.clock() for held in queue.held)
        return replace(queue.state, depth=len(queue.held) - hidden, in_flight=hidden)

    def oldest(self, state: QueueState) -> datetime | None:
        """See the port."""
        return min((held.message.sent_at for held in self._queue(state.url).held), default=None)

    def receive(self, url: str, *, hidden_seconds: int) -> Sequence[Message]:
        """See the port."""
        queue, now = self._queue(url), self.clock()
        locked = {held.message.group for held in queue.held if queue.state.fifo and held.hidden_until > now}
        open_ = [held for held in queue.held if held.hidden_until <= now and held.message.group not in locked]
        for held in open_[:_PER_RECEIVE]:
            received = held.message.receives + 1
            held.message = replace(held.message, receives=received, receipt=f"{held.message.id}/{received}")
            held.hidden_until = now + timedelta(seconds=hidden_seconds)
        return [held.message for held in open_[:_PER_RECEIVE]]

    def release(self, url: str, messages: Sequence[Message]) -> None:
        """See the port."""
        ids = {message.id for message in messages}
        for held in self._queue(url).held:
            if held.message.id in ids:
                held.hidden_until = _EPOCH

    def send(self, url: str, message: Message, *, fifo: bool) -> None:
        """See the port."""
        queue = self._queue(url)
        if url in self.unsendable:
            raise DependencyError(f"sending to {url} failed.", hint="Run it again.")
        if fifo != queue.state.fifo:
            raise DlqError("a group is for FIFO queues, and they need one.")
        new = replace(message, id=f"message-{next(self._numbers)}", sent_at=self.clock(), receives=0, receipt="")
        queue.held.append(_Held(new))

    def delete(self, url: str, message: Message) -> None:
        """See the port."""
        queue = self._queue(url)
        queue.held = [held for held in queue.held if held.message.id != message.id]

    def start_move(self, source_arn: str, destination_arn: str) -> None:
        """See the port."""
        source, destination = self._by_arn(source_arn), self._by_arn(destination_arn)
        if not self.moves or all(queue.state.dead_letters != source_arn for queue in self._queues.values()):
            raise CannotMoveError("SQS does not move messages of this queue by itself.")
        moved = list(source.held)
        for held in moved:
            self.send(destination.state.url, held.message, fifo=destination.state.fifo)
        source.held = []
        self._last[source_arn] = Move("COMPLETED", len(moved), len(moved))

    def last_move(self, source_arn: str) -> Move | None:
        """See the port."""
        if not self.moves:
            raise CannotMoveError("SQS does not move messages of this queue by itself.")
        return self._last.get(source_arn)

    def _queue(self, url: str) -> _Queue:
        if url not in self._queues:
            raise DependencyError(f"there is no queue {url}.")
        return self._queues[url]

    def _by_arn(self, arn: str) -> _Queue:
        return next(queue for queue in self._queues.values() if queue.state.arn == arn)


@dataclass
class MemoryStream:
    """Records in order; keys in ``refused`` get none."""

    records: list[tuple[str, bytes]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)

    def put(self, key: str, data: bytes, *, after: str = "") -> str:
        """See the port."""
        if key in self.refused:
            raise DependencyError("putting a record on the stream failed.", hint="Run it again.")
        if after and int(after) >= len(self.records):
            raise DlqError(f"there is no record {after}.")
        self.records.append((key, data))
        return str(len(self.records) - 1)


@dataclass
class MemoryTargets:
    """What was handed over. ``failing`` functions report their first record as failed."""

    delivered: list[tuple[str, str]] = field(default_factory=list)
    called: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)

    def deliver(self, target: str, body: str) -> None:
        """See the port."""
        if target in self.failing:
            raise DependencyError(f"invoking {target} failed.", hint="Run it again.")
        self.delivered.append((target, body))

    def call(self, function: str, event: Mapping[str, object]) -> Sequence[str]:
        """See the port."""
        self.called.append((function, event))
        return ["1"] if function in self.failing else []


@dataclass
class MemoryDroppedBatches:
    """Batches with the time of their writing."""

    batches: dict[str, tuple[datetime, DroppedBatch]] = field(default_factory=dict)

    def list(self) -> Sequence[Dropped]:
        """See the port."""
        found = [Dropped(key, at, len(str(batch.event))) for key, (at, batch) in self.batches.items()]
        return sorted(found, key=lambda one: (one.at, one.key))

    def load(self, key: str) -> DroppedBatch:
        """See the port."""
        if key not in self.batches:
            raise DlqError(f"there is no {key}.", hint="`relight dlq show failures` lists what there is.")
        return self.batches[key][1]


@dataclass
class MemoryRedrives:
    """Marks."""

    marks: dict[str, datetime] = field(default_factory=dict)

    def times(self, ids: Collection[str]) -> Mapping[str, datetime]:
        """See the port."""
        return {each: self.marks[each] for each in ids if each in self.marks}

    def mark(self, item_id: str, at: datetime) -> None:
        """See the port."""
        self.marks[item_id] = at
