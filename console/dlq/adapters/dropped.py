"""What mappings gave up, in the rejects bucket.

The layout is Lambda's (developer guide, "Retain discarded records in S3"):
``aws/lambda/<mapping>/<shard>/YYYY/MM/DD/YYYY-MM-DDTHH.MM.SS-<uuid>`` holds one JSON object ``{"requestContext":
{"functionArn", "condition", "approximateInvokeCount"}, "KinesisBatchInfo" | "DDBStreamBatchInfo": {"streamArn", …},
"payload": "<the event as JSON text>"}``.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from console.dlq.adapters.asking import asking, error_code
from console.dlq.model import DlqError, Dropped, DroppedBatch, StreamRecord

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

PREFIX = "aws/lambda/"


class S3DroppedBatches:
    """See `console/dlq/ports.py`."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        """Look in *bucket*."""
        self._client = client
        self._bucket = bucket

    def list(self) -> Sequence[Dropped]:
        """See the port."""
        with asking(f"listing s3://{self._bucket}/{PREFIX}"):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=PREFIX)
            found = [
                Dropped(each["Key"], each["LastModified"], each["Size"])
                for page in pages
                for each in page.get("Contents", [])
            ]
        return sorted(found, key=lambda one: (one.at, one.key))

    def load(self, key: str) -> DroppedBatch:
        """See the port."""
        with asking(f"reading s3://{self._bucket}/{key}"):
            try:
                body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
            except ClientError as error:
                if error_code(error) != "NoSuchKey":
                    raise
                raise DlqError(f"there is no {key}.", hint="`relight dlq show failures` lists what there is.") from None
        try:
            return read(key, body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DlqError(
                f"{key} is not what a mapping leaves ({type(error).__name__}: {error}).",
                hint="Look at it by hand: somebody else wrote there.",
            ) from None


def read(key: str, body: bytes) -> DroppedBatch:
    """Return the batch in *body*; ValueError, KeyError, TypeError or AttributeError when it is none."""
    document = json.loads(body)
    context = document["requestContext"]
    info = document.get("KinesisBatchInfo") or document["DDBStreamBatchInfo"]
    event: Mapping[str, Any] = json.loads(document["payload"])
    return DroppedBatch(
        key=key,
        condition=str(context["condition"]),
        tries=int(context.get("approximateInvokeCount", 0)),
        function=str(context["functionArn"]),
        stream=str(info["streamArn"]),
        event=event,
        records=[_record(each["kinesis"]) for each in event["Records"] if "kinesis" in each],
    )


def _record(kinesis: Mapping[str, Any]) -> StreamRecord:
    return StreamRecord(kinesis["partitionKey"], base64.b64decode(kinesis["data"]), kinesis["sequenceNumber"])
