"""Coordinate's dead letters on SQS: FIFO like the queue that the message came from, and in the same group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_sqs import SQSClient

    from functions.ports.dead_letters import DeadLetter


class SqsDeadLetters:
    """See `functions/ports/dead_letters.py`."""

    def __init__(self, client: SQSClient, queue_url: str) -> None:
        """Send to *queue_url*."""
        self._client = client
        self._queue_url = queue_url

    def send(self, letter: DeadLetter) -> None:
        """See the port."""
        attributes: Any = {
            name: {"DataType": "String", "StringValue": text} for name, text in letter.attributes.items()
        }
        with calling("dead-lettering a message"):
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=letter.body,
                MessageAttributes=attributes,
                MessageGroupId=letter.group,
                MessageDeduplicationId=letter.deduplication_id,
            )
