"""The sweep's way to coordinate on SQS: FIFO, one group a cluster, deduplicated by the message's own id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.adapters.aws import calling
from policies.contract.decisions import SweepMessage

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_sqs import SQSClient


class SqsSweeps:
    """See `functions/ports/sweeps.py`."""

    def __init__(self, client: SQSClient, queue_url: str) -> None:
        """Send to *queue_url*."""
        self._client = client
        self._queue_url = queue_url

    def send(self, message: SweepMessage) -> None:
        """See the port."""
        with calling("sending the sweep"):
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=message.to_json(),
                MessageGroupId=message.cluster,
                MessageDeduplicationId=message.deduplication_id,
            )
