"""Looking at messages of a dead-letter queue without taking them.

SQS has no peek: a message is received, hidden for a moment, and let go again. So each look counts as one more receive,
and of a FIFO group no more than the first ten can be seen. It must not send or delete.
"""

from collections.abc import Sequence

from console.dlq.model import DeadQueue, DlqError, Message
from console.dlq.ports import Queues

HIDDEN_SECONDS = 30  # how long a message stays hidden when the command dies in the middle
MOST_LOOKED_AT = 1_000


def peek(queues: Queues, queue: DeadQueue, most: int) -> Sequence[Message]:
    """Return up to *most* messages, oldest first as far as SQS tells; all of them are visible again afterwards."""
    held: dict[str, Message] = {}
    try:
        while True:
            batch = queues.receive(queue.state.url, hidden_seconds=HIDDEN_SECONDS)
            fresh = {message.id: message for message in batch if message.id not in held}
            held.update(fresh)
            if not fresh or len(held) >= most:
                break
    finally:
        queues.release(queue.state.url, list(held.values()))
    return sorted(held.values(), key=lambda message: message.sent_at)[:most]


def hold(queues: Queues, queue: DeadQueue, message_id: str) -> Message:
    """Return the message whose id begins with *message_id*, hidden for others; all others are let go again."""
    held: dict[str, Message] = {}
    kept = ""
    try:
        while len(held) < MOST_LOOKED_AT:
            batch = queues.receive(queue.state.url, hidden_seconds=HIDDEN_SECONDS)
            held.update({message.id: message for message in batch})
            kept = next((each for each in held if each.startswith(message_id)), "")
            if kept:
                return held[kept]
            if not batch:
                break
    finally:
        queues.release(queue.state.url, [message for message in held.values() if message.id != kept])
    raise DlqError(
        f"{queue.name} shows no message {message_id!r}.",
        hint=f"`relight dlq show {queue.name}` lists those within reach (of a FIFO group the first ten).",
    )
