"""Objects in a bucket: what is there, a few bytes of it, and writes that never overwrite what they did not expect.

It must not know S3. The twin is `functions/twins/objects.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from policies.checkpoints.listing import Entry
from policies.contract.errors import BadInputError

MOST_BYTES = 1024 * 1024  # the objects that are read whole have a few hundred; a job writes them, so who knows


@dataclass(frozen=True)
class Location:
    """A place in a bucket. ``prefix`` has no slash at either end; empty is the bucket's root."""

    bucket: str
    prefix: str = ""

    @classmethod
    def parse(cls, address: str) -> "Location":
        """Return the place that ``s3://bucket/prefix`` names; BadInputError when it names none."""
        bucket, _, prefix = address.removeprefix("s3://").partition("/")
        if not address.startswith("s3://") or not bucket:
            raise BadInputError(f"{address[:200]!r} is no place in S3.", hint="Write it as s3://bucket/prefix.")
        return cls(bucket, prefix.strip("/"))

    def key(self, name: str) -> str:
        """Return the key of *name* under the prefix."""
        return f"{self.prefix}/{name}" if self.prefix else name

    def address(self, name: str = "") -> str:
        """Return ``s3://bucket/prefix/name``."""
        return f"s3://{self.bucket}/{self.key(name)}".rstrip("/")


@dataclass(frozen=True)
class Stored:
    """An object's bytes and the tag that changes with them."""

    body: bytes
    etag: str


class Objects(Protocol):
    """Consistent like S3. Failures raise DependencyError."""

    def list(self, location: Location) -> Sequence[Entry]:
        """Return what lies under the prefix, with keys relative to it, in order of keys."""
        ...

    def read(self, bucket: str, key: str, start: int, length: int) -> bytes:
        """Return *length* bytes from *start*; fewer where the object ends, none where it has vanished."""
        ...

    def get(self, bucket: str, key: str) -> Stored | None:
        """Return an object, of a large one the first `MOST_BYTES`; None when there is none."""
        ...

    def put_if_absent(self, bucket: str, key: str, body: bytes) -> bool:
        """Write the object unless one of that key is there; say whether it was written."""
        ...

    def put_if_match(self, bucket: str, key: str, body: bytes, etag: str) -> bool:
        """Write over the object that still has *etag*; say whether it was written."""
        ...
