"""SQS as `relight dlq` uses it, with the age that CloudWatch keeps of it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from console.dlq.adapters.asking import asking, error_code
from console.dlq.model import CannotMoveError, Message, Move, QueueState
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from types_boto3_cloudwatch import CloudWatchClient
    from types_boto3_sqs import SQSClient

_DEPTH, _HIDDEN = "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"
_LATEST = timedelta(minutes=15)  # SQS tells CloudWatch once a minute, and is late at times
_NO_MOVES = {"UnsupportedOperation", "InvalidAction", "UnknownOperationException"}
_PATIENCE_SECONDS = 1  # a long poll asks all of SQS's servers: an empty answer then means an empty queue


class SqsQueues:
    """See `console/dlq/ports.py`."""

    def __init__(self, client: "SQSClient", cloudwatch: "CloudWatchClient", clock: Callable[[], datetime]) -> None:
        """Ask both; *clock* says up to when CloudWatch is asked."""
        self._client = client
        self._cloudwatch = cloudwatch
        self._clock = clock

    def describe(self, url: str) -> QueueState:
        """See the port."""
        with asking(f"looking at the queue {url}"):
            answer = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
        found: Mapping[str, str] = {str(name): value for name, value in answer["Attributes"].items()}
        policy = json.loads(found.get("RedrivePolicy") or "{}")
        return QueueState(
            url=url,
            arn=found["QueueArn"],
            fifo=found.get("FifoQueue") == "true",
            depth=int(found.get(_DEPTH, "0")),
            in_flight=int(found.get(_HIDDEN, "0")),
            dead_letters=policy.get("deadLetterTargetArn", ""),
        )

    def oldest(self, state: QueueState) -> datetime | None:
        """See the port. CloudWatch knows; where it is silent, the messages within reach are looked at."""
        if not state.depth:
            return None
        seconds = self._age(state)
        if seconds is not None:
            return self._clock() - timedelta(seconds=seconds)
        try:
            messages = self.receive(state.url, hidden_seconds=0)
        except DependencyError:
            return None  # who may only read may not receive
        return min((message.sent_at for message in messages), default=None)

    def _age(self, state: QueueState) -> float | None:
        now = self._clock()
        with asking("asking CloudWatch for the age of messages"):
            points = self._cloudwatch.get_metric_statistics(
                Namespace="AWS/SQS",
                MetricName="ApproximateAgeOfOldestMessage",
                Dimensions=[{"Name": "QueueName", "Value": state.arn.rpartition(":")[2]}],
                StartTime=now - _LATEST,
                EndTime=now,
                Period=60,
                Statistics=["Maximum"],
            )["Datapoints"]
        newest = max(points, key=lambda point: point["Timestamp"], default=None)
        return newest["Maximum"] if newest else None

    def receive(self, url: str, *, hidden_seconds: int) -> Sequence[Message]:
        """See the port."""
        with asking(f"receiving from {url}"):
            answer = self._client.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=10,
                VisibilityTimeout=hidden_seconds,
                WaitTimeSeconds=_PATIENCE_SECONDS,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
        return [_message(each) for each in answer.get("Messages", [])]

    def release(self, url: str, messages: Sequence[Message]) -> None:
        """See the port. What is not let go shows again by itself, so that refusals of single messages do not matter."""
        for start in range(0, len(messages), 10):
            entries: Any = [
                {"Id": str(place), "ReceiptHandle": message.receipt, "VisibilityTimeout": 0}
                for place, message in enumerate(messages[start : start + 10])
            ]
            with asking(f"letting messages of {url} go"):
                self._client.change_message_visibility_batch(QueueUrl=url, Entries=entries)

    def send(self, url: str, message: Message, *, fifo: bool) -> None:
        """See the port."""
        attributes: Any = {
            name: {"DataType": "String", "StringValue": value} for name, value in message.attributes.items()
        }
        order: Any = {"MessageGroupId": message.group, "MessageDeduplicationId": message.id} if fifo else {}
        with asking(f"sending to {url}"):
            self._client.send_message(QueueUrl=url, MessageBody=message.body, MessageAttributes=attributes, **order)

    def delete(self, url: str, message: Message) -> None:
        """See the port."""
        with asking(f"deleting from {url}"):
            self._client.delete_message(QueueUrl=url, ReceiptHandle=message.receipt)

    def start_move(self, source_arn: str, destination_arn: str) -> None:
        """See the port. The destination is named: SQS does not know it of messages that a person put there."""
        with asking(f"moving messages of {source_arn}"), _moves():
            self._client.start_message_move_task(SourceArn=source_arn, DestinationArn=destination_arn)

    def last_move(self, source_arn: str) -> Move | None:
        """See the port."""
        with asking(f"looking at moves of {source_arn}"), _moves():
            results = self._client.list_message_move_tasks(SourceArn=source_arn, MaxResults=1).get("Results", [])
        if not results:
            return None
        newest = results[0]
        return Move(
            status=newest.get("Status", ""),
            moved=newest.get("ApproximateNumberOfMessagesMoved", 0),
            to_move=newest.get("ApproximateNumberOfMessagesToMove", 0),
            failure=newest.get("FailureReason", ""),
        )


@contextmanager
def _moves() -> Iterator[None]:
    """Tell apart that SQS does not move from this queue (or that this endpoint moves nothing) from a real failure."""
    try:
        yield
    except ClientError as error:
        if error_code(error) not in _NO_MOVES:
            raise
        raise CannotMoveError("SQS does not move messages of this queue by itself.") from None


def _message(received: Mapping[str, Any]) -> Message:
    system = received.get("Attributes", {})
    own = received.get("MessageAttributes", {})
    return Message(
        id=received["MessageId"],
        body=received["Body"],
        sent_at=datetime.fromtimestamp(int(system["SentTimestamp"]) / 1000, UTC),
        receives=int(system.get("ApproximateReceiveCount", "0")),
        receipt=received["ReceiptHandle"],
        group=system.get("MessageGroupId", ""),
        given_up_by=system.get("DeadLetterQueueSourceArn", ""),
        attributes={name: each["StringValue"] for name, each in own.items() if "StringValue" in each},
    )
