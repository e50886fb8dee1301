"""The audit log: every write that was asked of the API server, with its answer. Tests and the demo count acts by it."""

import threading
from dataclasses import dataclass
from datetime import datetime

from local.kubernetes.routes import Target


@dataclass(frozen=True, slots=True)
class Entry:
    """One request that wanted to change something. `body` is the patch or object as it was sent."""

    at: datetime
    who: str
    verb: str
    target: Target
    code: int
    body: object = None


class Audit:
    """A bounded list of entries, oldest first."""

    def __init__(self, kept: int = 20_000) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._kept = kept

    def add(self, entry: Entry) -> None:
        with self._lock:
            self._entries.append(entry)
            del self._entries[: -self._kept]

    def entries(self) -> list[Entry]:
        with self._lock:
            return list(self._entries)
