"""Moving messages out of a dead-letter queue, which moto does not have.

By the SQS API reference (StartMessageMoveTask, ListMessageMoveTasks): only from a queue that is the dead-letter queue
of another one; moved messages are new ones, with new ids, and keep body, attributes and group. What a receiver holds
stays. Here a move is over at once.
"""

import time
from typing import Any

from moto.core.responses import ActionResult
from moto.moto_api._internal import mock_random
from moto.sqs.exceptions import SQSException
from moto.sqs.models import Queue
from moto.sqs.responses import SQSResponse

from local.aws import backends

_MOST_TOLD = 10


class _ResourceNotFoundException(SQSException):
    code = "ResourceNotFoundException"

    def __init__(self) -> None:
        super().__init__("The resource that you specified for the SourceArn parameter doesn't exist.")


class _UnsupportedOperation(SQSException):
    code = "AWS.SimpleQueueService.UnsupportedOperation"

    def __init__(self) -> None:
        super().__init__("Source queue must be configured as a Dead Letter Queue.")


def apply() -> None:
    """Teach moto the two operations."""
    for name, operation in (("start_message_move_task", _start), ("list_message_move_tasks", _list)):
        assert not hasattr(SQSResponse, name), f"moto has {name} now: this correction needs a second look"
        setattr(SQSResponse, name, operation)


def _start(self: Any) -> Any:
    source = _source(self)
    sources = [queue for queue in self.sqs_backend.queues.values() if queue.dead_letter_queue is source]
    if not sources:
        raise _UnsupportedOperation
    asked = self._get_param("DestinationArn")
    destination = backends.queue(asked) if asked else sources[0]
    started = int(time.time() * 1000)
    moved = _move(self.sqs_backend, source, destination)
    task = {
        "TaskHandle": str(mock_random.uuid4()),
        "Status": "COMPLETED",
        "SourceArn": source.queue_arn,
        "DestinationArn": destination.queue_arn,
        "ApproximateNumberOfMessagesMoved": moved,
        "ApproximateNumberOfMessagesToMove": moved,
        "StartedTimestamp": started,
    }
    source.__dict__.setdefault("relight_moves", []).insert(0, task)
    return ActionResult({"TaskHandle": task["TaskHandle"]})


def _list(self: Any) -> Any:
    tasks = _source(self).__dict__.get("relight_moves", [])
    most = min(int(self._get_param("MaxResults") or 1), _MOST_TOLD)
    over = [{name: value for name, value in task.items() if name != "TaskHandle"} for task in tasks[:most]]
    return ActionResult({"Results": over})


def _source(response: Any) -> Queue:
    arn = response._get_param("SourceArn")
    for queue in response.sqs_backend.queues.values():
        if queue.queue_arn == arn:
            found: Queue = queue
            return found
    raise _ResourceNotFoundException


def _move(backend: Any, source: Any, destination: Any) -> int:
    with source._messages_lock:
        now = time.time() * 1000
        chosen = [message for message in source._messages if message.visible_at <= now]
        for message in chosen:
            source._messages.remove(message)
    for message in chosen:
        backend.send_message(
            destination.name,
            message.body,
            message_attributes=message.message_attributes,
            # A queue that takes dead letters knows them by their message ids (SQS developer guide, redrive).
            deduplication_id=message.id if destination.fifo_queue else None,
            group_id=message.group_id,
        )
    return len(chosen)
