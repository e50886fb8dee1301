"""The rejects store: index and small payloads in the fleet table, large payloads in S3.

``REJECTS#<yyyy-mm-dd>`` / ``<arrival>#<id>``; a payload over 32 KiB lies in ``rejects/<yyyy-mm-dd>/<id>``. The object
is written before the line that names it. It must not know why something was rejected.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.ports.triage import Reject, RejectSummary
from policies.contract.times import format_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_s3 import S3Client

INLINE_BYTES = 32 * 1024
KEPT = timedelta(days=90)  # as long as the bucket keeps payloads by default; triage is told what the deployment says
WORKERS = 8
_LINE = ("id", "lane", "reason", "hint", "cluster", "instance_id")


class AwsRejects:
    """See `functions/ports/triage.py`."""

    def __init__(self, dynamodb: DynamoDBClient, table: str, s3: S3Client, bucket: str, kept: timedelta = KEPT) -> None:
        """Keep the index in *table* for *kept*, and large payloads in *bucket* for as long as its lifecycle says.

        The line must not outlive its payload, or the list names what cannot be shown.
        """
        self._dynamodb = dynamodb
        self._table = table
        self._s3 = s3
        self._bucket = bucket
        self._kept = kept

    def put(self, rejects: Sequence[Reject]) -> Sequence[Reject]:
        """See the port. One whose first answer was lost counts as there already: the client's own retry found it."""
        with ThreadPoolExecutor(max(min(WORKERS, len(rejects)), 1)) as pool:
            is_new = list(pool.map(self._put, rejects))  # the list makes the first failure raise here
        return [reject for reject, new in zip(rejects, is_new, strict=True) if new]

    def _put(self, reject: Reject) -> bool:
        item: dict[str, Any] = {name: {"S": getattr(reject, name)} for name in _LINE}
        item |= _key(reject)
        item["size"] = {"N": str(len(reject.payload))}
        item["expires"] = {"N": str(int((reject.arrived_at + self._kept).timestamp()))}
        if len(reject.payload) <= INLINE_BYTES:
            item["payload"] = {"B": reject.payload}
        else:
            item["s3_key"] = {"S": self._put_object(reject)}
        with calling("keeping a rejected record"):
            try:
                self._dynamodb.put_item(
                    TableName=self._table, Item=item, ConditionExpression="attribute_not_exists(pk)"
                )
            except ClientError as error:
                if error_code(error) != CONDITION_FAILED:
                    raise
                return False
        return True

    def _put_object(self, reject: Reject) -> str:
        key = f"rejects/{reject.day.isoformat()}/{reject.id}"
        with calling("keeping the payload of a rejected record"):
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=reject.payload)
        return key

    def list(self, day: date, limit: int = 100) -> Sequence[RejectSummary]:
        """See the port."""
        names = {f"#{name}": name for name in (*_LINE, "sk", "size")}
        with calling("listing rejected records"):
            # A page ends at 1 MB of whole items, payloads counted: one page may hold thirty.
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": _partition(day)}},
                ProjectionExpression=", ".join(names),
                ExpressionAttributeNames=names,
                ScanIndexForward=False,
                PaginationConfig={"MaxItems": limit},
            )
            return [_summary(item) for page in pages for item in page["Items"]]

    def load(self, line: RejectSummary) -> Reject | None:
        """See the port."""
        with calling("reading a rejected record"):
            answer = self._dynamodb.get_item(TableName=self._table, Key=_key(line), ConsistentRead=True)
        return self._load(answer["Item"]) if "Item" in answer else None

    def _load(self, item: Mapping[str, Any]) -> Reject:
        payload = item["payload"]["B"] if "payload" in item else self._get_object(item["s3_key"]["S"])
        line = {name: item[name]["S"] for name in _LINE}
        return Reject(arrived_at=_arrived(item), payload=bytes(payload), **line)

    def _get_object(self, key: str) -> bytes:
        with calling("reading the payload of a rejected record"):
            return self._s3.get_object(Bucket=self._bucket, Key=key)["Body"].read()


def _partition(day: date) -> str:
    return f"REJECTS#{day.isoformat()}"


def _key(reject: Reject | RejectSummary) -> dict[str, Any]:
    arrived_at = format_time(reject.arrived_at)
    return {"pk": {"S": _partition(reject.arrived_at.date())}, "sk": {"S": f"{arrived_at}#{reject.id}"}}


def _arrived(item: Mapping[str, Any]) -> datetime:
    return parse_time(item["sk"]["S"].partition("#")[0])


def _summary(item: Mapping[str, Any]) -> RejectSummary:
    line = {name: item[name]["S"] for name in _LINE}
    return RejectSummary(arrived_at=_arrived(item), size=int(item["size"]["N"]), **line)
