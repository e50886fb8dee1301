"""The archive on S3. It must not know what is in an object."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import calling, error_code
from functions.ports.archive import ArchiveObject
from policies.contract.archive_names import day_prefix, parse_day, parse_key

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_GONE = frozenset({"NoSuchKey", "404", "InvalidRange"})  # InvalidRange: behind the end


class S3Archive:
    """See `functions/ports/archive.py`. ``prefix`` is empty, or ends with a slash."""

    def __init__(self, client: "S3Client", bucket: str, prefix: str = "", page: int = 1000) -> None:
        """Use *bucket*, below *prefix*. *page* is how many keys one call lists."""
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._page = page

    def put(self, key: str, body: bytes) -> None:
        """See the port."""
        with calling(f"writing {self._address(key)}"):
            self._client.put_object(
                Bucket=self._bucket, Key=f"{self._prefix}{key}", Body=body, ContentType="application/gzip"
            )

    def days(self, family: str) -> Sequence[date]:
        """See the port."""
        days = (
            parse_day(day)
            for year in self._folders(f"{family}/")
            for month in self._folders(year)
            for day in self._folders(month)
        )
        return sorted(day for day in days if day is not None)

    def list(self, family: str, day: date) -> Sequence[ArchiveObject]:
        """See the port."""
        start = day_prefix(family, day)
        found = []
        with calling(f"listing {self._address(start)}"):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=f"{self._prefix}{start}", PaginationConfig={"PageSize": self._page}
            )
            for page in pages:
                for each in page.get("Contents", ()):
                    name = parse_key(each["Key"].removeprefix(self._prefix))
                    if name is not None:
                        found.append(ArchiveObject(name, each["Size"]))
        return sorted(found, key=lambda one: one.name)

    def read(self, key: str, start: int, length: int) -> bytes:
        """See the port."""
        with calling(f"reading {self._address(key)}"):
            try:
                answer = self._client.get_object(
                    Bucket=self._bucket, Key=f"{self._prefix}{key}", Range=f"bytes={start}-{start + length - 1}"
                )
                return answer["Body"].read()
            except ClientError as error:
                if error_code(error) in _GONE:
                    return b""
                raise

    def _folders(self, start: str) -> Iterable[str]:
        with calling(f"listing {self._address(start)}"):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=f"{self._prefix}{start}", Delimiter="/"
            )
            return [
                each["Prefix"].removeprefix(self._prefix) for page in pages for each in page.get("CommonPrefixes", ())
            ]

    def _address(self, key: str) -> str:
        return f"s3://{self._bucket}/{self._prefix}{key}"
