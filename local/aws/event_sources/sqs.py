"""A queue as an event source: batches, concurrency, and which messages an outcome deletes.

Lambda deletes what went through; the rest shows again when its visibility timeout ends (developer guide, "Handling
errors for an SQS event source"). Order within a FIFO group is the queue's own doing: see patches.sqs_delivery.
"""

import base64
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from local.aws import backends
from local.aws.errors import UnsupportedError
from local.aws.event_sources.mapping import IDLE_SECONDS, ActiveMapping
from local.aws.event_sources.stream_batches import Outcome
from local.aws.patches import sqs_delivery

_log = logging.getLogger(__name__)

# Without MaximumConcurrency Lambda starts with five pollers; more would only crowd one machine.
_DEFAULT_CONCURRENCY = 5
GRANTS = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """The mapping's properties."""

    batch_size: int = 10
    window_seconds: float = 0.0
    concurrency: int = _DEFAULT_CONCURRENCY
    report_failures: bool = False


def settings_from(properties: Mapping[str, Any]) -> QueueSettings:
    """The settings in a mapping's properties.

    Raises:
        UnsupportedError: a property that is not represented here.
    """
    if properties.get("FilterCriteria"):
        raise UnsupportedError("an event source mapping with FilterCriteria is not represented in the embedded AWS")
    scaling = properties.get("ScalingConfig") or {}
    return QueueSettings(
        batch_size=int(properties.get("BatchSize") or 10),
        window_seconds=float(properties.get("MaximumBatchingWindowInSeconds") or 0),
        concurrency=int(scaling.get("MaximumConcurrency") or _DEFAULT_CONCURRENCY),
        report_failures="ReportBatchItemFailures" in (properties.get("FunctionResponseTypes") or ()),
    )


def settled(message_ids: Sequence[str], outcome: Outcome, *, report_failures: bool) -> set[str]:
    """The messages that an outcome deletes. A response that makes no sense fails the whole batch."""
    if outcome.failed:
        return set()
    if not report_failures or outcome.response is None:
        return set(message_ids)
    if not isinstance(outcome.response, Mapping):
        return set()
    failures = outcome.response.get("batchItemFailures") or []
    failed = {failure.get("itemIdentifier") if isinstance(failure, Mapping) else None for failure in failures}
    return set(message_ids) - failed if failed <= set(message_ids) else set()


def event_of(message: Any, arn: str) -> Mapping[str, Any]:
    """A message as the function sees it (developer guide, "Example event" of SQS)."""
    attributes = {
        "ApproximateReceiveCount": str(message.approximate_receive_count),
        "SentTimestamp": str(message.sent_timestamp),
        "SenderId": message.sender_id,
        "ApproximateFirstReceiveTimestamp": str(message.approximate_first_receive_timestamp),
    }
    optional = {
        "SequenceNumber": message.sequence_number,
        "MessageGroupId": message.group_id,
        "MessageDeduplicationId": message.deduplication_id,
    }
    return {
        "messageId": message.id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": attributes | {name: value for name, value in optional.items() if value is not None},
        "messageAttributes": {name: _attribute(value) for name, value in message.message_attributes.items()},
        "md5OfBody": message.body_md5,
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": arn.split(":")[3],
    }


def _attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    shaped: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "StringValue" in value:
        shaped["stringValue"] = value["StringValue"]
    if "BinaryValue" in value:
        binary = value["BinaryValue"]
        shaped["binaryValue"] = base64.b64encode(binary).decode() if isinstance(binary, bytes) else binary
    return shaped


class QueuePoller:
    """One thread that receives, a bounded pool that invokes."""

    def __init__(self, mapping: ActiveMapping, settings: QueueSettings) -> None:
        self._mapping = mapping
        self._settings = settings
        self._queue = backends.queue(mapping.source_arn)
        self._slots = threading.Semaphore(settings.concurrency)
        self._pool = ThreadPoolExecutor(settings.concurrency, thread_name_prefix=f"queue-{mapping.uuid[:8]}")

    def start(self) -> None:
        threading.Thread(target=self._run, name=f"poll-{self._mapping.uuid[:8]}", daemon=True).start()

    def _run(self) -> None:
        while self._mapping.exists():
            rings = self._mapping.bell.rings
            self._slots.acquire()
            messages = self._receive()
            if messages:
                self._pool.submit(self._settle, messages)
            else:
                self._slots.release()
                self._mapping.bell.wait(rings, sqs_delivery.seconds_to_next(self._queue, IDLE_SECONDS))
        self._pool.shutdown(wait=False)

    def _receive(self) -> list[Any]:
        try:
            return self._collect() if self._mapping.is_enabled() else []
        except Exception:  # noqa: BLE001 - logged; a poller that ended would stop its queue without a word
            _log.exception("receiving from %s failed", self._mapping.source_arn)
            return []

    def _collect(self) -> list[Any]:
        """The next batch; a standard queue may wait for more within the batching window."""
        size, visibility = self._settings.batch_size, int(self._queue.visibility_timeout)
        messages = sqs_delivery.receive(self._queue, size, visibility)
        deadline = time.monotonic() + (0 if self._queue.fifo_queue else self._settings.window_seconds)
        while messages and len(messages) < size and time.monotonic() < deadline:
            rings = self._mapping.bell.rings
            more = sqs_delivery.receive(self._queue, size - len(messages), visibility)
            messages += more
            if not more:
                self._mapping.bell.wait(rings, deadline - time.monotonic())
        return messages

    def _settle(self, messages: list[Any]) -> None:
        try:
            arn = self._mapping.source_arn
            outcome = self._mapping.invoke({"Records": [event_of(message, arn) for message in messages]})
            ids = [message.id for message in messages]
            done = settled(ids, outcome, report_failures=self._settings.report_failures)
            for message in messages:
                if message.id in done:
                    sqs_delivery.delete(self._queue, message.receipt_handle)
        except Exception:  # noqa: BLE001 - logged; the messages show again by themselves
            _log.exception("a batch of %s could not be settled", self._mapping.source_arn)
        finally:
            self._slots.release()
            self._mapping.bell.ring()  # the next of a FIFO group may go now


def start(mapping: ActiveMapping) -> None:
    """Serve a mapping on a queue.

    Raises:
        UnsupportedError: the mapping asks for something that is not represented here.
    """
    settings = settings_from(mapping.properties)
    mapping.record(*GRANTS)
    QueuePoller(mapping, settings).start()
