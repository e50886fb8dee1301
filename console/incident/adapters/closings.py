"""What a person says of an incident, on coordinate's queue: a close, an approval, a verdict."""

from datetime import datetime
from typing import TYPE_CHECKING

from console.dlq.adapters.asking import asking
from policies.contract.decisions import CloseMessage
from policies.contract.identifiers import stable_id
from policies.contract.restraints import ApproveMessage, VerdictMessage
from policies.contract.times import format_time

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


class SqsClosings:
    """See `console/incident/ports.py`."""

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        """Send to *queue_url*."""
        self._client = client
        self._queue_url = queue_url

    def send(self, message: CloseMessage | ApproveMessage | VerdictMessage, at: datetime) -> None:
        """See the port. The moment is part of the deduplication id: SQS swallows a repeat for five minutes."""
        with asking(f"sending the {message.type} of {message.incident}"):
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=message.to_json(),
                MessageGroupId=message.cluster,
                MessageDeduplicationId=stable_id(message.deduplication_id, format_time(at)),
            )
