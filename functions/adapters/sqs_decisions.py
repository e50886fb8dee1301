"""Triage's way to coordinate on SQS: FIFO, one group a cluster, deduplicated by the message's own id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.adapters.aws import calling
from policies.contract.decisions import FindingsMessage

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


class SqsDecisions:
    """See `Decisions` in `functions/ports/triage.py`."""

    def __init__(self, client: SQSClient, queue_url: str) -> None:
        """Send to *queue_url*."""
        self._client = client
        self._queue_url = queue_url

    def send(self, message: FindingsMessage) -> None:
        """See the port."""
        with calling(f"sending findings of {message.cluster}"):
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=message.to_json(),
                MessageGroupId=message.cluster,
                MessageDeduplicationId=message.deduplication_id,
            )
