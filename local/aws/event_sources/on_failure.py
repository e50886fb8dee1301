"""Where given-up stream records go: pointers to a queue or topic, the whole event to S3.

Shapes: AWS Lambda developer guide, "Retain discarded batch records for a Kinesis Data Streams event source" and the
same for DynamoDB. S3 keys are `aws/lambda/<mapping>/<shard>/YYYY/MM/DD/YYYY-MM-DDTHH.MM.SS-<uuid>`; only there the
record carries `payload`, the event as JSON text.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from local.aws import backends
from local.aws.errors import UnsupportedError
from local.aws.event_sources.stream_batches import Batch, Discarded

_BATCH_INFO = {"kinesis": "KinesisBatchInfo", "dynamodb": "DDBStreamBatchInfo"}


@dataclass(frozen=True, slots=True)
class Source:
    """The shard that a batch came from, and the mapping it came through."""

    mapping: str
    stream_arn: str
    shard: str
    function_arn: str


def record_of(discarded: Discarded, source: Source, *, handler_failed: bool, now: datetime) -> dict[str, Any]:
    """The on-failure record, without the payload."""
    error = {"functionError": "Unhandled"} if handler_failed else {}
    return {
        "requestContext": {
            "requestId": str(uuid.uuid4()),
            "functionArn": source.function_arn,
            "condition": discarded.condition,
            "approximateInvokeCount": discarded.batch.tries,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", **error},
        "version": "1.0",
        "timestamp": _text(now),
        _BATCH_INFO[backends.service_of(source.stream_arn)]: _batch_info(discarded.batch, source),
    }


def _batch_info(batch: Batch, source: Source) -> dict[str, Any]:
    first, last = batch.records[0], batch.records[-1]
    return {
        "shardId": source.shard,
        "startSequenceNumber": first.sequence,
        "endSequenceNumber": last.sequence,
        "approximateArrivalOfFirstRecord": _text(first.arrived),
        "approximateArrivalOfLastRecord": _text(last.arrived),
        "batchSize": len(batch.records),
        "streamArn": source.stream_arn,
    }


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def object_key(source: Source, now: datetime) -> str:
    """The key under which S3 gets a record."""
    moment = now.astimezone(UTC)
    return f"aws/lambda/{source.mapping}/{source.shard}/{moment:%Y/%m/%d}/{moment:%Y-%m-%dT%H.%M.%S}-{uuid.uuid4()}"


def send(destination: str, record: Mapping[str, Any], event: Mapping[str, Any], source: Source, now: datetime) -> None:
    """Hand the record to the destination by its ARN.

    Raises:
        UnsupportedError: a destination that streams do not have.
    """
    service = backends.service_of(destination)
    if service == "s3":
        body = json.dumps({**record, "payload": json.dumps(event)})
        bucket = destination.rpartition(":")[2]
        backends.bucket_backend().put_object(bucket, object_key(source, now), body.encode())
    elif service == "sqs":
        backends.send_to_queue(destination, json.dumps(record))
    elif service == "sns":
        backends.topic_backend(destination.split(":")[3]).publish(message=json.dumps(record), arn=destination)
    else:
        raise UnsupportedError(f"{destination} cannot be the on-failure destination of a stream")


def grant_of(destination: str) -> tuple[str, tuple[str, ...]]:
    """The action and resources that the function's role needs for a destination."""
    action = {"s3": "s3:PutObject", "sqs": "sqs:SendMessage", "sns": "sns:Publish"}[backends.service_of(destination)]
    return action, (destination + "/aws/lambda" if action == "s3:PutObject" else destination,)
