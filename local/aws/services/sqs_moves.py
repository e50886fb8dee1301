"""Redriving a dead-letter queue: StartMessageMoveTask and its list, which moto lacks.

Source: SQS API reference. It works only from a queue that is the dead-letter queue of another queue; without a
destination each message goes back to the queue it came from, as a new message (receive count 0).
"""

import copy
import time
import uuid
from typing import Any

from moto.core.responses import ActionResult
from moto.sqs.exceptions import InvalidParameterValue
from moto.sqs.responses import SQSResponse

from local.aws import backends
from local.aws.bells import Bells
from local.aws.patches import sqs_delivery

_KEPT = 10  # ListMessageMoveTasks shows "up to 10"


class MoveTasks:
    """Message move tasks: each is done within the call."""

    def __init__(self, bells: Bells) -> None:
        self._bells = bells
        self._done: list[dict[str, Any]] = []

    def apply(self) -> None:
        def start_message_move_task(handler: Any) -> Any:
            return self._start(handler)

        def list_message_move_tasks(handler: Any) -> Any:
            return self._list(handler)

        response: Any = SQSResponse
        response.start_message_move_task = start_message_move_task
        response.list_message_move_tasks = list_message_move_tasks

    def _start(self, handler: Any) -> Any:
        source_arn = handler._get_param("SourceArn")
        source = backends.queue(source_arn)
        backend = handler.sqs_backend
        if not backend.list_dead_letter_source_queues(source.name):
            raise InvalidParameterValue("Source queue must be configured as a Dead Letter Queue.")
        destination_arn = handler._get_param("DestinationArn")
        moved = self._move(source, destination_arn)
        handle = str(uuid.uuid4())
        task = {
            "Status": "COMPLETED",
            "SourceArn": source_arn,
            "ApproximateNumberOfMessagesMoved": moved,
            "ApproximateNumberOfMessagesToMove": moved,
            "StartedTimestamp": int(time.time() * 1000),
        }
        self._done.append(task | ({"DestinationArn": destination_arn} if destination_arn else {}))
        return ActionResult({"TaskHandle": handle})

    def _move(self, source: Any, destination_arn: str | None) -> int:
        with source._messages_lock:
            messages = [message for message in source._messages if message.visible and not message.delayed]
            for message in messages:
                source._messages.remove(message)
        for message in messages:
            target = backends.queue(destination_arn or message.relight_source)
            sqs_delivery.put_last(target, _renewed(message))
            self._bells.of(target.queue_arn).ring()
        return len(messages)

    def _list(self, handler: Any) -> Any:
        arn = handler._get_param("SourceArn")
        limit = int(handler._get_param("MaxResults") or 1)
        found = [task for task in self._done if task["SourceArn"] == arn]
        return ActionResult({"Results": found[::-1][: min(limit, _KEPT)]})


def _renewed(message: Any) -> Any:
    """The message as a new one: nobody has received it yet."""
    new = copy.copy(message)
    new.id = str(uuid.uuid4())
    new.approximate_receive_count = 0
    new.approximate_first_receive_timestamp = None
    new.visible_at = new.delayed_until = 0.0
    new.receipt_handle, new._old_receipt_handles = None, []
    new.mark_sent()
    return new
