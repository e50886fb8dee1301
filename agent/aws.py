"""The lanes to AWS: Kinesis, and SQS for when Kinesis refuses.

The SDK is loaded at the first put, on the publisher's thread: reading the kernel's log never waits for it. Deadlines
are short and the SDK's own retries are off, since the publisher decides when to try again. It must not know envelopes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agent.memory import give_back
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from botocore.config import Config
    from types_boto3_kinesis import KinesisClient
    from types_boto3_sqs import SQSClient

_CONNECT_SECONDS, _READ_SECONDS = 1.0, 3.0
# The policy that the stack gives out for nodes lets an agent put and ask nothing: such an answer is no failure.
_DENIED = frozenset({"AccessDenied", "AccessDeniedException"})
_ONLY_PUTS = "reached; this role may not ask for more, so the first put will tell whether it may put"


def _config() -> Config:
    from botocore.config import Config  # noqa: PLC0415 - see the module's docstring

    return Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"total_max_attempts": 1},
        max_pool_connections=1,
        tcp_keepalive=True,
    )


class KinesisLane:
    """One record an envelope, in order per node: the partition key is the node."""

    def __init__(self, stream: str, region: str) -> None:
        """Put into *stream*, a name or an ARN."""
        self._stream = stream
        self._region = region

    @cached_property
    def _client(self) -> KinesisClient:
        import boto3  # noqa: PLC0415 - see the module's docstring

        client = boto3.client("kinesis", region_name=self._region, config=_config())
        give_back()
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
            if _may_not_ask(error):
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
        import boto3  # noqa: PLC0415 - see the module's docstring

        return boto3.client("sqs", region_name=self._region, config=_config())

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
            if _may_not_ask(error):
                return _ONLY_PUTS
            raise explain_refusal("SQS", error) from error
        return answer["Attributes"]["QueueArn"]


def _may_not_ask(error: Exception) -> bool:
    """Tell whether the service answered, namely that this role may not ask."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - see the module's docstring

    return isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") in _DENIED


def explain_refusal(service: str, error: Exception) -> DependencyError:
    """Return *error* of the SDK as ours; an error that is not the SDK's is a bug and goes on as it is."""
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError  # noqa: PLC0415 - as above

    if isinstance(error, ClientError):
        code = error.response.get("Error", {}).get("Code", "an error")
        return DependencyError(f"{service} answers {code}.", hint="Check the node's role, the name and the region.")
    if isinstance(error, BotoCoreError | HTTPClientError):
        kind = type(error).__name__
        return DependencyError(f"{service} is not reached ({kind}).", hint="Check the network, the endpoint, the role.")
    raise error
