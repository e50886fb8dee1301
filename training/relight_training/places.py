"""Where checkpoints lie, as far as a resume looks: a small object, what stands beside it, and when it changed.

A folder is read by the system's own calls, `s3://` by boto3 where the image has it. It must not judge what it reads.
"""

from __future__ import annotations

import importlib
import os
import stat
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = 64 * 1024  # bytes of a pointer; a real one has some hundred
_ENTRIES = 20_000
_TIMEOUTS = {"connect_timeout": 5, "read_timeout": 10}


class UnreadableError(Exception):
    """The place cannot be looked at; the message says what to do."""


class Place(Protocol):
    """What a resume asks of the place of the checkpoints."""

    address: str

    def read(self, name: str) -> bytes | None:
        """Return the object *name*, None when there is none. UnreadableError when that cannot be told."""

    def entries(self) -> Mapping[str, datetime]:
        """Return what lies directly in the place, and when it (or what it holds) last changed; bounded."""

    def resolve(self, path: str) -> str | None:
        """Return *path* as this process can open it; None when it is gone."""


class Folder:
    """A folder of a file system."""

    def __init__(self, path: str) -> None:
        """Look at *path*."""
        self.address = path

    def read(self, name: str) -> bytes | None:
        """As Place."""
        try:
            descriptor = os.open(os.path.join(self.address, name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UnreadableError(f"{self.address}/{name} cannot be read: {error.strerror}") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableError(f"{self.address}/{name} is no file; remove it")
            return _read_up_to(descriptor, LIMIT + 1)
        except OSError as error:
            raise UnreadableError(f"{self.address}/{name} cannot be read: {error.strerror}") from error
        finally:
            os.close(descriptor)

    def entries(self) -> Mapping[str, datetime]:
        """As Place; a folder's own time stands for what it holds."""
        found = {}
        try:
            with os.scandir(self.address) as entries:
                for entry in islice(entries, _ENTRIES):
                    try:
                        changed = entry.stat().st_mtime
                    except OSError:
                        continue
                    found[entry.name] = datetime.fromtimestamp(changed, timezone.utc)
        except OSError as error:
            raise UnreadableError(f"{self.address} cannot be listed: {error.strerror}") from error
        return found

    def resolve(self, path: str) -> str | None:
        """As Place: the shortest tail of *path* that lies here; so a path in a bucket is found in its mirror."""
        parts = [part for part in path.split("/") if part]
        if ".." in parts:
            return None
        for count in range(1, len(parts) + 1):
            here = os.path.join(self.address, *parts[-count:])
            if os.path.exists(here):
                return here
        return None


class Bucket:
    """A prefix of an S3 bucket."""

    def __init__(self, address: str, client: Any = None) -> None:  # noqa: ANN401 - boto3's clients have no types
        """Look at *address*, `s3://bucket/prefix`; *client* is boto3's, made when it is needed."""
        self.address = address.rstrip("/")
        self._bucket, _, prefix = self.address[len("s3://") :].partition("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._client = client

    def read(self, name: str) -> bytes | None:
        """As Place."""
        client = self._connected()
        try:
            body = client.get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"]
            return bytes(body.read(LIMIT + 1))
        except Exception as error:
            if _code_of(error) in {"NoSuchKey", "404"}:
                return None
            raise UnreadableError(f"{self.address}/{name} cannot be read: {error}") from error

    def entries(self) -> Mapping[str, datetime]:
        """As Place."""
        client = self._connected()
        found: dict[str, datetime] = {}
        try:
            pages = client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix, PaginationConfig={"MaxItems": _ENTRIES}
            )
            for item in (item for page in pages for item in page.get("Contents", ())):
                name = item["Key"][len(self._prefix) :].partition("/")[0]
                found[name] = max(found.get(name, item["LastModified"]), item["LastModified"])
        except Exception as error:
            raise UnreadableError(f"{self.address} cannot be listed: {error}") from error
        return found

    def resolve(self, path: str) -> str | None:
        """As Place: a path in this bucket and prefix is as good as it stands."""
        return path if path.startswith(f"{self.address}/") and ".." not in path.split("/") else None

    def _connected(self) -> Any:  # noqa: ANN401 - as above
        if self._client is None:
            try:
                boto3, config = importlib.import_module("boto3"), importlib.import_module("botocore.config")
            except ImportError as error:
                raise UnreadableError(
                    f"{self.address} is in S3 and this image has no boto3. Install it, mount the checkpoints and name"
                    " the folder, or let the launcher set RELIGHT_RESUME_FROM and RELIGHT_RESUME_STEP."
                ) from error
            try:
                self._client = boto3.client("s3", config=config.Config(retries={"max_attempts": 3}, **_TIMEOUTS))
            except Exception as error:
                raise UnreadableError(f"{self.address}: boto3 makes no client: {error}") from error
        return self._client


def place_of(text: str) -> Place:
    """Return the place that *text* names: `s3://bucket/prefix` or a folder. UnreadableError for other addresses."""
    if text.startswith("s3://"):
        return Bucket(text)
    if "://" in text:
        raise UnreadableError(f"{text}: only folders and s3:// are understood; mount it and name the folder")
    return Folder(text)


def _read_up_to(descriptor: int, most: int) -> bytes:
    body = b""
    while len(body) < most and (more := os.read(descriptor, most - len(body))):
        body += more
    return body


def _code_of(error: Exception) -> str:
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
