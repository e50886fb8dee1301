"""Brings what was collected to S3, each part as soon as it is whole: a thread of its own, that blocks nobody.

What is there already stays (If-None-Match): a part that is put twice, after a lost answer or a restart, is put once.
Decides order and pauses. It must not know what is collected.

Source: S3 user guide, "Conditional writes": 412 when there is an object of that key, 409 while another is written.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agent.evidence.store import EvidenceStore
from agent.sdk import explain_refusal, make_client
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

log = logging.getLogger(__name__)

_CONNECT_SECONDS, _READ_SECONDS = 2.0, 20.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0
_LOOK_SECONDS, _STOP_SECONDS = 60.0, 1.0
_THERE = 412


class EvidenceBucket(Protocol):
    """Where evidence goes. Used by one thread."""

    name: str

    def put(self, key: str, path: Path) -> None:
        """Put the file at *path* unless there is one of that *key*; DependencyError when nobody knows."""


class MemoryBucket:
    """Keeps what was put. ``refuses`` makes it raise instead."""

    def __init__(self) -> None:
        """Empty, and willing."""
        self.name = "memory"
        self.objects: dict[str, bytes] = {}
        self.refuses = False

    def put(self, key: str, path: Path) -> None:
        """See `EvidenceBucket.put`."""
        if self.refuses:
            raise DependencyError("the bucket in memory refuses.", hint="It is told to.")
        self.objects.setdefault(key, path.read_bytes())


class S3Bucket:
    """A bucket in S3. The SDK is loaded at the first put; the file is streamed."""

    def __init__(self, bucket: str, region: str) -> None:
        """Put into *bucket*."""
        self.name, self._region = bucket, region

    @cached_property
    def _client(self) -> S3Client:
        client: S3Client = make_client("s3", self._region, connect=_CONNECT_SECONDS, read=_READ_SECONDS)
        return client

    def put(self, key: str, path: Path) -> None:
        """See `EvidenceBucket.put`."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - see the class's docstring

        try:
            with path.open("rb") as body:
                self._client.put_object(Bucket=self.name, Key=key, Body=body, IfNoneMatch="*")
        except ClientError as error:
            if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") != _THERE:
                raise explain_refusal("S3", error) from error
        except OSError:
            raise
        except Exception as error:
            raise explain_refusal("S3", error) from error


class Uploader:
    """One thread's work: `run` until told to stop."""

    def __init__(self, store: EvidenceStore, bucket: EvidenceBucket, prefix: str) -> None:
        """Put what *store* holds below *prefix*, ``nodes/<node>``."""
        self._store, self._bucket, self._prefix = store, bucket, prefix
        self._put: set[Path] = set()
        self._changed = threading.Condition()
        self._version = 0
        self.failing = ""

    def key(self, path: Path) -> str:
        """Return the key of a part: its boot, its collection, its name."""
        return f"{self._prefix}/{path.parent.parent.name}/{path.parent.name}/{path.name}"

    def address(self, path: Path) -> str:
        """Return where a part is, or will be."""
        return f"s3://{self._bucket.name}/{self.key(path)}"

    def offer(self) -> None:
        """Say that there is something new."""
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    def wait_for(self, folder: Path, seconds: float) -> bool:
        """Wait at most so long until all of *folder* is in S3; tell whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._store.is_uploaded(folder), seconds)

    def run(self, stop: threading.Event) -> None:
        """Upload until *stop*."""
        pause = _FIRST_PAUSE
        while not stop.is_set():
            with self._changed:
                seen = self._version
            try:
                self.step(stop)
            except (DependencyError, OSError) as error:
                self._tell(str(error))
                stop.wait(random.uniform(0, pause))  # noqa: S311 - spreads a fleet's retries, keeps no secret
                pause = min(_LONGEST_PAUSE, pause * 2)
                continue
            self._tell("")
            pause = _FIRST_PAUSE
            self._wait(stop, seen)

    def step(self, stop: threading.Event) -> None:
        """Put all that is there and is not in S3."""
        for folder in self._store.pending():
            for path in self._store.parts(folder):
                if stop.is_set():
                    return
                if path not in self._put:
                    with suppress(FileNotFoundError):  # it had to make room
                        self._bucket.put(self.key(path), path)
                    self._put.add(path)
            self._finish(folder)
        self._put = {path for path in self._put if path.exists()}

    def _finish(self, folder: Path) -> None:
        """A collection is done when its manifest, which is written last, and all that lay there by then are put."""
        if self._store.manifest(folder) is None or not self._put.issuperset(self._store.parts(folder)):
            return
        self._store.uploaded(folder)
        with self._changed:
            self._changed.notify_all()

    def _wait(self, stop: threading.Event, seen: int) -> None:
        """Wait for something new, a while at most; a stop is heard within a second."""
        until = time.monotonic() + _LOOK_SECONDS
        with self._changed:
            while self._version == seen and not stop.is_set() and time.monotonic() < until:
                self._changed.wait(_STOP_SECONDS)

    def _tell(self, problem: str) -> None:
        if problem != self.failing:
            log.warning("evidence is not uploaded" if problem else "evidence is uploaded again", extra={"why": problem})
        self.failing = problem
