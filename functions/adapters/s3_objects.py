"""Objects on S3.

Listings page by a thousand; writes carry If-None-Match or If-Match, which S3 has obeyed since 2024. It must not decide
what is written.
"""

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import calling, error_code
from functions.ports.objects import MOST_BYTES, Location, Stored
from policies.checkpoints.listing import Entry

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_ABSENT = frozenset({"NoSuchKey", "404", "InvalidRange"})
# 412; 409 while another conditional write of the key is under way; 404 when If-Match meets a deleted object.
_NOT_AS_EXPECTED = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey"})


class S3Objects:
    """See the port."""

    def __init__(self, client: "S3Client", page: int = 1000) -> None:
        """Keep the client. *page* is how many keys one call lists."""
        self._client = client
        self._page = page

    def list(self, location: Location) -> Sequence[Entry]:
        """See the port."""
        start = f"{location.prefix}/" if location.prefix else ""
        found = []
        with calling(f"listing {location.address()}"):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=location.bucket, Prefix=start, PaginationConfig={"PageSize": self._page}
            )
            for page in pages:
                for each in page.get("Contents", ()):
                    if each["Key"] != start:
                        modified = each["LastModified"].astimezone(UTC)
                        found.append(Entry(each["Key"].removeprefix(start), each["Size"], modified))
        return found

    def read(self, bucket: str, key: str, start: int, length: int) -> bytes:
        """See the port."""
        wanted = f"bytes={start}-{start + length - 1}"
        with calling(f"reading s3://{bucket}/{key}"):
            try:
                return self._client.get_object(Bucket=bucket, Key=key, Range=wanted)["Body"].read()
            except ClientError as error:
                if error_code(error) in _ABSENT:
                    return b""
                raise

    def get(self, bucket: str, key: str) -> Stored | None:
        """See the port."""
        with calling(f"reading s3://{bucket}/{key}"):
            try:
                answer = self._client.get_object(Bucket=bucket, Key=key)
                return Stored(answer["Body"].read(MOST_BYTES), answer["ETag"])
            except ClientError as error:
                if error_code(error) in _ABSENT:
                    return None
                raise

    def put_if_absent(self, bucket: str, key: str, body: bytes) -> bool:
        """See the port."""
        with calling(f"writing s3://{bucket}/{key}"):
            try:
                self._client.put_object(Bucket=bucket, Key=key, Body=body, IfNoneMatch="*")
            except ClientError as error:
                return _happened(error)
        return True

    def put_if_match(self, bucket: str, key: str, body: bytes, etag: str) -> bool:
        """See the port."""
        with calling(f"writing s3://{bucket}/{key}"):
            try:
                self._client.put_object(Bucket=bucket, Key=key, Body=body, IfMatch=etag)
            except ClientError as error:
                return _happened(error)
        return True


def _happened(error: ClientError) -> bool:
    """False when the condition did not hold; any other error goes on."""
    if error_code(error) in _NOT_AS_EXPECTED:
        return False
    raise error
