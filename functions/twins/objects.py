"""A bucket in memory."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime

from functions.ports.objects import MOST_BYTES, Location, Stored
from policies.checkpoints.listing import Entry


class MemoryObjects:
    """Buckets are made by writing to them. ``writes`` remembers every write that happened, as (bucket, key)."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        """*clock* dates the objects."""
        self._clock = clock
        self._bodies: dict[tuple[str, str], bytes] = {}
        self._times: dict[tuple[str, str], datetime] = {}
        self.writes: list[tuple[str, str]] = []

    def put(self, bucket: str, key: str, body: bytes, modified: datetime | None = None) -> None:
        """Write as somebody else would: without a condition, and not counted."""
        self._bodies[bucket, key] = body
        self._times[bucket, key] = modified or self._clock()

    def list(self, location: Location) -> Sequence[Entry]:
        """See the port."""
        start = f"{location.prefix}/" if location.prefix else ""
        return [
            Entry(key.removeprefix(start), len(body), self._times[bucket, key])
            for (bucket, key), body in sorted(self._bodies.items())
            if bucket == location.bucket and key.startswith(start) and key != start
        ]

    def read(self, bucket: str, key: str, start: int, length: int) -> bytes:
        """See the port."""
        return self._bodies.get((bucket, key), b"")[start : start + length]

    def get(self, bucket: str, key: str) -> Stored | None:
        """See the port."""
        body = self._bodies.get((bucket, key))
        return None if body is None else Stored(body[:MOST_BYTES], _etag(body))

    def put_if_absent(self, bucket: str, key: str, body: bytes) -> bool:
        """See the port."""
        return (bucket, key) not in self._bodies and self._write(bucket, key, body)

    def put_if_match(self, bucket: str, key: str, body: bytes, etag: str) -> bool:
        """See the port."""
        stored = self.get(bucket, key)
        return stored is not None and stored.etag == etag and self._write(bucket, key, body)

    def _write(self, bucket: str, key: str, body: bytes) -> bool:
        self.put(bucket, key, body)
        self.writes.append((bucket, key))
        return True


def _etag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
