"""How jobs go, in memory."""

from datetime import datetime

from functions.ports.facts import FactKey
from functions.twins.facts import MemoryFacts


class MemoryProgress:
    """Writes into *facts*; ``writes`` counts."""

    def __init__(self, facts: MemoryFacts) -> None:
        """Start with nothing written."""
        self._facts = facts
        self._at: dict[FactKey, datetime] = {}
        self.writes = 0

    def keep_newest(self, key: FactKey, text: str, at: datetime, expires: datetime) -> None:
        """See the port."""
        self.writes += 1
        if key not in self._at or self._at[key] < at:
            self._at[key] = at
            self._facts.keep(key, text, expires)
