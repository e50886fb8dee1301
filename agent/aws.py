"""The lanes to AWS: Kinesis, and SQS for when Kinesis refuses.

The SDK is loaded at the first put, on the publisher's thread. Deadlines are short: the publisher decides when to try
again. It must not know envelopes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agent.sdk import explain_refusal, is_denied, make_client

if TYPE_CHECKING:
    from types_boto3_kinesis import KinesisClient
    from types_boto3_sqs import SQSClient

_CONNECT_SECONDS, _READ_SECONDS = 1.0, 3.0
_ONLY_PUTS = "reached; this role may not ask for more, so the first put will tell whether it may put"


class KinesisLane:
    """One record an envelope, in order per node: the partition key is the node."""

    def __init__(self, stream: str, region: str) -> None:
        """Put into *stream*, a name or an ARN."""
        self._stream = stream
        self._region = region

    @cached_property
    def _client(self) -> KinesisClient:
        client: KinesisClient = make_client("kinesis", self._region, connect=_CONNECT_SECONDS, read=_READ_SECONDS)
        return client

    def put(self, body: bytes, key: str) -> None:
        """See `EnvelopeLane.put`."""
        try:
            if self._stream.startswith("arn:"):
                self._client.put_record(StreamARN=self._stream, Data=body, PartitionKey=key)
            else:
                self._client.put_record(StreamName=self._stream, Data=body, PartitionKey=key)
        except Exception as error:
            raise explain_refusal("Kinesis", error) from error

    def check(self) -> str:
        """Return the stream's state as far as this role may ask; DependencyError when it is not reached."""
        by_arn = self._stream.startswith("arn:")
        try:
            summary = (
                self._client.describe_stream_summary(StreamARN=self._stream)
                if by_arn
                else self._client.describe_stream_summary(StreamName=self._stream)
            )
        except Exception as error:
            if is_denied(error):
                return _ONLY_PUTS
            raise explain_refusal("Kinesis", error) from error
        return summary["StreamDescriptionSummary"]["StreamStatus"]


class SqsLane:
    """One message an envelope."""

    def __init__(self, queue_url: str, region: str) -> None:
        """Send to the queue at *queue_url*."""
        self._queue_url = queue_url
        self._region = region

    @cached_property
    def _client(self) -> SQSClient:
        client: SQSClient = make_client("sqs", self._region, connect=_CONNECT_SECONDS, read=_READ_SECONDS)
        return client

    def put(self, body: bytes, key: str) -> None:  # noqa: ARG002 - the body names the node; a queue has no keys
        """See `EnvelopeLane.put`."""
        try:
            self._client.send_message(QueueUrl=self._queue_url, MessageBody=body.decode("utf-8"))
        except Exception as error:
            raise explain_refusal("SQS", error) from error

    def check(self) -> str:
        """Return the queue's ARN as far as this role may ask; DependencyError when it is not reached."""
        try:
            answer = self._client.get_queue_attributes(QueueUrl=self._queue_url, AttributeNames=["QueueArn"])
        except Exception as error:
            if is_denied(error):
                return _ONLY_PUTS
            raise explain_refusal("SQS", error) from error
        return answer["Attributes"]["QueueArn"]
