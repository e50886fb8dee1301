"""Where checkpoints lie: one prefix of a bucket. A port with its S3 adapter and an in-memory twin."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import ObjectIdentifierTypeDef


class CheckpointStore(Protocol):
    """Files below one prefix, by their names relative to it."""

    def put(self, name: str, content: bytes) -> None:
        """Write or overwrite."""

    def get(self, name: str) -> bytes | None:
        """The content; None when there is no such file."""

    def sizes(self) -> dict[str, int]:
        """Name -> bytes of all files."""

    def delete(self, names: Sequence[str]) -> None:
        """Delete at most a thousand files, in this order; one that is not there is fine."""


class MemoryCheckpoints:
    """The twin: a dictionary."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        self.files[name] = content

    def get(self, name: str) -> bytes | None:
        return self.files.get(name)

    def sizes(self) -> dict[str, int]:
        return {name: len(content) for name, content in self.files.items()}

    def delete(self, names: Sequence[str]) -> None:
        for name in names:
            self.files.pop(name, None)


class S3Checkpoints:
    """The adapter for `s3://BUCKET/PREFIX/`."""

    def __init__(self, s3: "S3Client", bucket: str, prefix: str) -> None:
        self._s3 = s3
        self._bucket = bucket
        self._prefix = prefix.strip("/") + "/"

    def put(self, name: str, content: bytes) -> None:
        self._s3.put_object(Bucket=self._bucket, Key=self._prefix + name, Body=content)

    def get(self, name: str) -> bytes | None:
        try:
            return self._s3.get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"].read()
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in {"NoSuchKey", "404"}:
                return None
            raise

    def sizes(self) -> dict[str, int]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        entries = (entry for page in pages for entry in page.get("Contents", []))
        return {entry["Key"].removeprefix(self._prefix): entry["Size"] for entry in entries}

    def delete(self, names: Sequence[str]) -> None:
        objects: list[ObjectIdentifierTypeDef] = [{"Key": self._prefix + name} for name in names]
        self._s3.delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True})


def get_json(store: CheckpointStore, name: str) -> dict[str, Any] | None:
    """The JSON object in this file; None when there is none, or when it does not parse."""
    content = store.get(name)
    try:
        document = json.loads(content) if content is not None else None
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
