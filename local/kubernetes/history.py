"""The ordered log of changes, which watches read. It is bounded.

Who asks for too old a version is told to list again.
"""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from local.kubernetes.errors import expired
from local.kubernetes.objects import Obj
from local.kubernetes.resources import ResourceType

_KEPT = 5000


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `before` is None for a creation; `after` of a deletion is the last state, with its final version."""

    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    kind: ResourceType
    before: Obj | None
    after: Obj


class History:
    """Changes in the order of their versions. Guarded by the store's own condition."""

    def __init__(self, changed: threading.Condition) -> None:
        self._changed = changed
        self._changes: deque[Change] = deque(maxlen=_KEPT)
        self._closed = False

    def append(self, change: Change) -> None:
        """Called with the lock held."""
        self._changes.append(change)
        self._changed.notify_all()

    def close(self) -> None:
        """End every watch."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def since(self, version: int) -> list[Change]:
        """The changes after *version*; Expired (410) when some of them are forgotten."""
        with self._changed:
            if self._changes and len(self._changes) == _KEPT and self._changes[0].version > version + 1:
                raise expired(f"too old resource version: {version} ({self._changes[0].version})")
            newer = []
            for change in reversed(self._changes):
                if change.version <= version:
                    break
                newer.append(change)
            return newer[::-1]

    def wait(self, version: int, seconds: float) -> bool:
        """Wait until there is something after *version*, or the end; False after *seconds* without."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed or self._newest() > version, timeout=seconds)

    @property
    def is_closed(self) -> bool:
        return self._closed

    def _newest(self) -> int:
        return self._changes[-1].version if self._changes else 0

    def __iter__(self) -> Iterator[Change]:
        return iter(self.since(0))
