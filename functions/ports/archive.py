"""The archive as it is written and as it is read: objects by key, in days, and bytes of them.

A read stands by itself, so that nothing is held open between two of them. It must not know S3, folders or what is in an
object (`policies/contract/archive.py` does). The twin is `functions/twins/archive.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from policies.contract.archive_names import ObjectName


@dataclass(frozen=True)
class ArchiveObject:
    """One object of the archive: what its key says, and how many bytes it takes as it lies there."""

    name: ObjectName
    size: int


class ArchiveReader(Protocol):
    """Failures raise DependencyError. What is none of the archive's objects is not there."""

    def days(self, family: str) -> Sequence[date]:
        """Return the days (UTC) of which there may be objects of *family*, oldest first."""
        ...

    def list(self, family: str, day: date) -> Sequence[ArchiveObject]:
        """Return the objects of a day (UTC), by first arrival."""
        ...

    def read(self, key: str, start: int, length: int) -> bytes:
        """Return *length* bytes from *start*; fewer where the object ends, none behind its end or when it is gone."""
        ...


class ArchiveWriter(Protocol):
    """Failures raise DependencyError; the object may have been written all the same."""

    def put(self, key: str, body: bytes) -> None:
        """Write one object; again, if it is there: its key stands for what is in it."""
        ...
