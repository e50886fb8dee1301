"""How jobs go, in memory."""

from collections.abc import Mapping
from datetime import datetime

from functions.ports.facts import FactKey
from functions.ports.progress import Word
from functions.twins.facts import MemoryFacts
from policies.contract.errors import DependencyError


class MemoryProgress:
    """Writes into *facts*; ``writes`` counts; what is ``failing`` takes no word."""

    def __init__(self, facts: MemoryFacts) -> None:
        """Start with nothing written."""
        self._facts = facts
        self._at: dict[FactKey, datetime] = {}
        self.writes = 0
        self.failing: set[FactKey] = set()

    def keep_newest(self, words: Mapping[FactKey, Word]) -> Mapping[FactKey, DependencyError]:
        """See the port."""
        for key, (text, at, expires) in words.items():
            if key in self.failing:
                continue
            self.writes += 1
            if key not in self._at or self._at[key] < at:
                self._at[key] = at
                self._facts.keep(key, text, expires)
        return {key: DependencyError("throttled.", hint="") for key in words if key in self.failing}
