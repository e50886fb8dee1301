"""The documents that facts are answered from (`policies/facts`): read by triage, kept by whoever measures them.

It must not know what stands in them. The twin is `functions/twins/facts.py`. What coordinate keeps it writes through
its own store, under a version.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol


class FactKey(NamedTuple):
    """One document: of a cluster, by the name of its kind (`policies.facts.registry.DOCUMENTS`) and its subject."""

    cluster: str
    document: str
    subject: str = ""


class FactReader(Protocol):
    """Reading. Failures raise DependencyError."""

    def read(self, keys: Collection[FactKey]) -> Mapping[FactKey, str]:
        """Return the text of those of *keys* that are there."""
        ...


class FactWriter(Protocol):
    """Writing, by each document's only writer. Failures raise DependencyError."""

    def keep(self, key: FactKey, text: str, expires: datetime) -> None:
        """Write *text* over what is there, to be forgotten by the table some time after *expires*."""
        ...
