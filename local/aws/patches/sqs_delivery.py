"""Queues that keep their promises: one receiver a message, groups in order, quick at depth.

moto receives without a lock (two receivers get the same message), remembers deduplication ids only as long as the
message is in the queue (SQS: five minutes, deleted or not), gives FIFO messages random sequence numbers, copies each
message deeply and walks the whole queue several times for each call (measured: 122 sends/s, 45/s at a depth of 600).
"""

import copy
import time
from collections import deque
from typing import Any

from moto.sqs.exceptions import InvalidParameterValue, ReceiptHandleIsInvalid
from moto.sqs.models import DEDUPLICATION_TIME_IN_SECONDS, Queue, SQSBackend, _filter_message_attributes

from local.aws.bells import Bells
from local.aws.patches.replacing import replace

_MAX_VISIBILITY = 43_200
_REMEMBERED_DELETIONS = 10_000


def apply(bells: Bells) -> None:
    """Replace adding, receiving, deleting and hiding of messages."""

    def add(self: Any, message: Any) -> None:
        with self._messages_lock:
            if self.fifo_queue and _is_duplicate(self, message):
                return
            put_last(self, message)
        bells.of(self.queue_arn).ring()

    def change(self: Any, queue_name: str, receipt_handle: str, visibility_timeout: int) -> None:
        queue = self.get_queue(queue_name)
        _change_visibility(queue, receipt_handle, int(visibility_timeout))
        bells.of(queue.queue_arn).ring()

    replace(Queue, "add_message", add)
    replace(Queue, "delete_message", delete)
    replace(SQSBackend, "receive_message", _receive_message)
    replace(SQSBackend, "change_message_visibility", change)


def put_last(queue: Any, message: Any) -> None:
    """Append a message to its queue; a FIFO queue numbers it."""
    with queue._messages_lock:
        if queue.fifo_queue:
            queue.relight_sequence = getattr(queue, "relight_sequence", 0) + 1
            message.sequence_number = f"{queue.relight_sequence:020d}"
        queue._messages.append(message)
        queue._messages_lock.notify_all()


def _is_duplicate(queue: Any, message: Any) -> bool:
    if message.deduplication_id is None:
        return False
    scope = message.group_id if queue.deduplication_scope == "messageGroup" else ""
    seen: dict[tuple[str, str], float] = queue.__dict__.setdefault("relight_seen", {})
    now = time.monotonic()
    while seen and now - next(iter(seen.values())) > DEDUPLICATION_TIME_IN_SECONDS:
        del seen[next(iter(seen))]
    key = (scope, message.deduplication_id)
    if key in seen:
        return True
    seen[key] = now
    return False


def receive(queue: Any, count: int, visibility: int) -> list[Any]:
    """Take up to `count` messages now, hide them for `visibility` seconds, and redrive those received too often."""
    with queue._messages_lock:
        now = time.time() * 1000
        taken: list[Any] = []
        dead: list[Any] = []
        blocked: set[str | None] = set()
        for message in queue._messages:
            if len(taken) == count:
                break
            if message.group_id in blocked and queue.fifo_queue:
                continue
            if message.visible_at > now or message.delayed_until > now:
                blocked.add(message.group_id)
            elif _is_exhausted(queue, message):
                dead.append(message)
            else:
                taken.append(message)
        for message in dead:
            queue._messages.remove(message)
            message.relight_source = queue.queue_arn
            put_last(queue.dead_letter_queue, message)
        return [_hand_out(queue, message, visibility) for message in taken]


def _is_exhausted(queue: Any, message: Any) -> bool:
    if queue.dead_letter_queue is None or not queue.redrive_policy:
        return False
    return bool(message.approximate_receive_count >= queue.redrive_policy["maxReceiveCount"])


def _hand_out(queue: Any, message: Any, visibility: int) -> Any:
    message.mark_received(visibility_timeout=visibility)
    queue.__dict__.setdefault("relight_receipts", {})[message.receipt_handle] = message
    return copy.copy(message)


def seconds_to_next(queue: Any, at_most: float) -> float:
    """How long until a hidden or delayed message shows, if that is sooner than `at_most` seconds."""
    now = time.time() * 1000
    with queue._messages_lock:
        moments = [max(message.visible_at, message.delayed_until) for message in queue._messages]
    waits = [(moment - now) / 1000 + 0.002 for moment in moments if moment > now]
    return float(max(0.001, min([at_most, *waits])))


def _receive_message(
    self: Any,
    queue_name: str,
    count: int,
    wait_seconds_timeout: int,
    visibility_timeout: int,
    message_attribute_names: list[str] | None = None,
) -> list[Any]:
    queue = self.get_queue(queue_name)
    deadline = time.monotonic() + (wait_seconds_timeout or 0)
    with queue._messages_lock:
        while not (found := receive(queue, count, visibility_timeout)):
            left = deadline - time.monotonic()
            if left <= 0:
                return []
            queue._messages_lock.wait(seconds_to_next(queue, min(left, 1.0)))
    for message in found:
        _filter_message_attributes(message, message_attribute_names or [])
    return found


def delete(queue: Any, receipt_handle: str) -> None:
    """Delete by receipt; deleting again is fine, a handle that never was is an error."""
    with queue._messages_lock:
        deleted: deque[str] = queue.__dict__.setdefault("relight_deleted", deque(maxlen=_REMEMBERED_DELETIONS))
        message = queue.__dict__.get("relight_receipts", {}).get(receipt_handle)
        if message is None:
            if receipt_handle in deleted:
                return
            raise ReceiptHandleIsInvalid
        for handle in message.all_receipt_handles:
            queue.relight_receipts.pop(handle, None)
            deleted.append(handle)
        if message in queue._messages:
            queue._messages.remove(message)
        queue._messages_lock.notify_all()  # the next of its group may go


def _change_visibility(queue: Any, receipt_handle: str, seconds: int) -> None:
    with queue._messages_lock:
        message = queue.__dict__.get("relight_receipts", {}).get(receipt_handle)
        if message is None:
            raise ReceiptHandleIsInvalid
        if time.time() + seconds - message.sent_timestamp / 1000 > _MAX_VISIBILITY:
            raise InvalidParameterValue(
                f"Value {seconds} for parameter VisibilityTimeout is invalid. Reason: Total "
                "VisibilityTimeout for the message is beyond the limit [43200 seconds]"
            )
        message.change_visibility(seconds)
        if seconds == 0:
            message.visible_at = 0.0
        queue._messages_lock.notify_all()
