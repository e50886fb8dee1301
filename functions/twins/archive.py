"""An archive in memory."""

from collections.abc import Sequence
from datetime import date

from functions.ports.archive import ArchiveObject
from policies.contract.archive_names import parse_key


class MemoryArchive:
    """Reads and writes. ``objects`` is what it holds, by key; ``puts`` counts the writes."""

    def __init__(self) -> None:
        """Hold nothing."""
        self.objects: dict[str, bytes] = {}
        self.puts = 0

    def put(self, key: str, body: bytes) -> None:
        """See the port."""
        self.objects[key] = body
        self.puts += 1

    def days(self, family: str) -> Sequence[date]:
        """See the port."""
        return sorted({each.name.first.date() for each in self._named(family)})

    def list(self, family: str, day: date) -> Sequence[ArchiveObject]:
        """See the port."""
        return sorted((each for each in self._named(family) if each.name.first.date() == day), key=lambda it: it.name)

    def read(self, key: str, start: int, length: int) -> bytes:
        """See the port."""
        return self.objects.get(key, b"")[start : start + length]

    def _named(self, family: str) -> Sequence[ArchiveObject]:
        named = ((parse_key(key), len(body)) for key, body in self.objects.items())
        return [ArchiveObject(name, size) for name, size in named if name is not None and name.family == family]
