"""The documents of facts in memory."""

from collections.abc import Collection, Mapping
from datetime import datetime

from functions.ports.facts import FactKey


class MemoryFacts:
    """``texts`` and ``expires`` by key; ``reads`` are the keys of each read."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.texts: dict[FactKey, str] = {}
        self.expires: dict[FactKey, datetime] = {}
        self.reads: list[frozenset[FactKey]] = []

    def read(self, keys: Collection[FactKey]) -> Mapping[FactKey, str]:
        """See the port."""
        self.reads.append(frozenset(keys))
        return {key: self.texts[key] for key in keys if key in self.texts}

    def keep(self, key: FactKey, text: str, expires: datetime) -> None:
        """See the port."""
        self.texts[key] = text
        self.expires[key] = expires
