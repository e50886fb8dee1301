"""Sends the messages of a dead-letter queue back to where they failed.

Decides who moves: SQS itself where the queue is the dead-letter queue of another (standard and FIFO alike, SQS
developer guide, "Learn how to configure a dead-letter queue redrive"), else one by one: send first, delete after, so
that a crash between them leaves a message twice and never none. Readers of every lane know a repeat. It must not judge
messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.dlq.looking import HIDDEN_SECONDS, hold
from console.dlq.model import CannotMoveError, DeadQueue, DlqError, Message, Move, Outcome
from console.dlq.ports import Queues, Targets
from console.dlq.reasons import INVOCATION, TARGET
from policies.contract.errors import RelightError

POLL_SECONDS = 2.0
MOST_POLLS = 300  # ten minutes; the move goes on without us
MOST_ROUNDS = 10_000  # receives of ten: far above what a dead-letter queue should ever hold


@dataclass(frozen=True)
class QueueRedrive:
    """One redrive of one queue. ``sweep`` is the function whose failed invocations come to rest without a target."""

    queues: Queues
    targets: Targets
    queue: DeadQueue
    sweep: str
    progress: Callable[[str], None]
    pause: Callable[[float], None]

    def all(self) -> Sequence[Outcome]:
        """Send everything back; what it is by item where it goes one by one, else one outcome for the whole move."""
        if self.queue.source is None:
            return self._one_by_one()
        try:
            return [self._move(self.queue.source.arn)]
        except CannotMoveError as error:
            self.progress(f"{error} Moving one by one.")
            return self._one_by_one()

    def one(self, message_id: str) -> Outcome:
        """Send one message back; DlqError when it cannot be found."""
        return self._resend(hold(self.queues, self.queue, message_id))

    def _move(self, destination_arn: str) -> Outcome:
        source_arn = self.queue.state.arn
        under_way = self.queues.last_move(source_arn)
        if under_way is None or not under_way.running:
            self.queues.start_move(source_arn, destination_arn)
        move = self._follow(source_arn)
        if move is None or move.running:
            detail = "SQS still moves; `relight dlq list` shows what is left"
            return Outcome(self.queue.name, "failed", detail)
        detail = f"{move.moved} messages moved to {self.queue.source_name}"
        if move.status == "COMPLETED":
            return Outcome(self.queue.name, "redriven", detail)
        return Outcome(self.queue.name, "failed", f"{detail}; the move is {move.status}: {move.failure or 'no reason'}")

    def _follow(self, source_arn: str) -> Move | None:
        move = None
        for _ in range(MOST_POLLS):
            move = self.queues.last_move(source_arn)
            if move and not move.running:
                break
            if move:
                self.progress(f"{move.moved} of {move.to_move} moved")
            self.pause(POLL_SECONDS)
        return move

    def _one_by_one(self) -> Sequence[Outcome]:
        outcomes: dict[str, Outcome] = {}
        for _ in range(MOST_ROUNDS):
            batch = self.queues.receive(self.queue.state.url, hidden_seconds=HIDDEN_SECONDS)
            fresh = [message for message in batch if message.id not in outcomes]
            if not fresh:
                break
            for message in fresh:
                outcomes[message.id] = self._resend(message)
            self.progress(f"{len(outcomes)} sent")
        return list(outcomes.values())

    def _resend(self, message: Message) -> Outcome:
        """Send, then delete. What could not be sent stays hidden for a moment and is then where it was."""
        try:
            where = self._send(message)
        except RelightError as error:
            return Outcome(message.id, "failed", str(error))
        try:
            self.queues.delete(self.queue.state.url, message)
        except RelightError as error:
            detail = f"sent to {where}, but still here too ({error.message}): sending it again does no harm"
            return Outcome(message.id, "failed", detail)
        return Outcome(message.id, "redriven", f"to {where}")

    def _send(self, message: Message) -> str:
        source = self.queue.source
        if source is not None:
            self.queues.send(source.url, message, fifo=source.fifo)
            return self.queue.source_name
        target = message.attributes.get(TARGET, self.sweep if INVOCATION in message.attributes else "")
        if not target:
            raise DlqError("nothing says whom it was for.", hint="It expires by itself; `relight dlq show` prints it.")
        self.targets.deliver(target, message.body)
        return target.rpartition(":")[2]
