"""Sending to a queue without walking it.

moto computes all attributes of the queue (which count its messages) up to four times for each message sent.
"""

import hashlib
from typing import Any

from moto.moto_api._internal import mock_random
from moto.sqs.constants import MAXIMUM_MESSAGE_LENGTH
from moto.sqs.exceptions import InvalidParameterValue, MissingParameter
from moto.sqs.models import MAXIMUM_MESSAGE_DELAY, Message, SQSBackend

from local.aws.patches.replacing import replace


def apply() -> None:
    replace(SQSBackend, "_validate_message", _validate)
    replace(SQSBackend, "send_message", _send)


def _validate(
    self: Any,  # noqa: ARG001 - moto's signature
    queue: Any,
    message_body: str,
    delay_seconds: int,
    deduplication_id: str | None = None,
    group_id: str | None = None,
    **_more: Any,
) -> None:
    if len(message_body.encode()) > min(queue.maximum_message_size, MAXIMUM_MESSAGE_LENGTH):
        raise InvalidParameterValue(
            "One or more parameters are invalid. "
            f"Reason: Message must be shorter than {queue.maximum_message_size} bytes."
        )
    if not 0 <= delay_seconds <= MAXIMUM_MESSAGE_DELAY:
        raise InvalidParameterValue(
            f"Value {delay_seconds} for parameter DelaySeconds is invalid. "
            "Reason: DelaySeconds must be >= 0 and <= 900."
        )
    if queue.fifo_queue:
        _validate_fifo(queue, delay_seconds, deduplication_id, group_id)


def _validate_fifo(queue: Any, delay_seconds: int, deduplication_id: str | None, group_id: str | None) -> None:
    if not group_id:
        raise MissingParameter("MessageGroupId")
    if delay_seconds > 0:
        raise InvalidParameterValue(
            f"Value {delay_seconds} for parameter DelaySeconds is invalid. Reason: "
            "The request include parameter that is not valid for this queue type."
        )
    if not deduplication_id and not queue.content_based_deduplication:
        raise InvalidParameterValue(
            "The queue should either have ContentBasedDeduplication enabled or "
            "MessageDeduplicationId provided explicitly"
        )


def _send(
    self: Any,
    queue_name: str,
    message_body: str,
    message_attributes: dict[str, Any] | None = None,
    delay_seconds: int | None = None,
    deduplication_id: str | None = None,
    group_id: str | None = None,
    system_attributes: dict[str, Any] | None = None,
    **_more: Any,
) -> Any:
    queue = self.get_queue(queue_name)
    delay = int(queue.delay_seconds if delay_seconds is None else delay_seconds)
    asked = int(delay_seconds or 0)
    self._validate_message(queue, message_body, asked, deduplication_id=deduplication_id, group_id=group_id)
    message = Message(str(mock_random.uuid4()), message_body, system_attributes)
    message.group_id = group_id
    if queue.fifo_queue:
        digest = hashlib.sha256(message_body.encode()).hexdigest()
        message.deduplication_id = deduplication_id or digest
    message.message_attributes = message_attributes or {}
    message.mark_sent(delay_seconds=delay)
    queue.add_message(message)
    return message
