"""The documents that policies ask, as the replay itself has kept them: histories and the hour's faults, how jobs go.

Decides what is known: what coordinate keeps comes from the replay's store, jobs from the envelopes. Capacity and
maintenance stand in no archive: their documents are not there. It must not know what a fact means.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from functions.ports.facts import FactKey
from functions.ports.progress import Word
from policies.contract.errors import DependencyError
from policies.coordination.snapshot import Keys
from policies.facts.history import HISTORY
from policies.facts.recent import RECENT
from simulator.store import ReplayStore

UNKNOWN = ("capacity", "maintenance")
"""What nothing in an archive tells, for the list of assumptions."""


class ReplayFacts:
    """The ports `FactReader` and `ProgressWriter`. ``kept`` is what was written, with the moment it is of."""

    def __init__(self, store: ReplayStore) -> None:
        """Read histories from *store*."""
        self._store = store
        self.kept: dict[FactKey, tuple[datetime, str]] = {}

    def read(self, keys: Collection[FactKey]) -> Mapping[FactKey, str]:
        """See the port."""
        found = ((key, self._text(key)) for key in keys)
        return {key: text for key, text in found if text is not None}

    def keep_newest(self, words: Mapping[FactKey, Word]) -> Mapping[FactKey, DependencyError]:
        """See the port."""
        for key, (text, at, _expires) in words.items():
            before = self.kept.get(key)
            if before is None or before[0] <= at:
                self.kept[key] = (at, text)
        return {}

    def _text(self, key: FactKey) -> str | None:
        one = frozenset({key.subject})
        if key.document == HISTORY.name:
            history = self._store.read(key.cluster, Keys(histories=one)).histories.get(key.subject)
            return history.to_json() if history else None
        if key.document == RECENT.name:
            recent = self._store.read(key.cluster, Keys(recents=one)).recents.get(key.subject)
            return recent.to_json() if recent else None
        kept = self.kept.get(key)
        return kept[1] if kept else None
