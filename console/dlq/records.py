"""Putting records back on the `faults` stream, in order for each key.

Decides that a key stops at its first failure, since what comes after must not overtake it; other keys go on. It must
not know where the records come from.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from console.dlq.ports import Stream
from policies.contract.errors import RelightError


@dataclass
class KeyedPuts:
    """Remembers how far each key is."""

    stream: Stream
    _last: dict[str, str] = field(default_factory=dict)
    _broken: dict[str, str] = field(default_factory=dict)

    def put(self, key: str, data: bytes) -> str:
        """Put one record; return why it was not put, empty when it was."""
        if key in self._broken:
            return f"not sent: an earlier record of {key} failed ({self._broken[key]})"
        try:
            self._last[key] = self.stream.put(key, data, after=self._last.get(key, ""))
        except RelightError as error:
            self._broken[key] = error.message
            return str(error)
        return ""

    def put_all(self, records: Iterable[tuple[str, bytes]]) -> list[str]:
        """Put all; return the reasons of those that were not."""
        return [reason for key, data in records if (reason := self.put(key, data))]
