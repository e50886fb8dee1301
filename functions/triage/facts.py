"""What policies ask of nodes that no event tells: reads the documents that answer it, for the nodes of a batch.

Decides which documents are read: those that an event of the batch may be asked about by a rule. All others cost
nothing. A warm worker remembers for some seconds. It must not know what stands in a document.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from functions.ports.facts import FactKey, FactReader
from functions.ports.triage import NodeKey, Telemetry
from functions.triage.sorting import Arrival
from policies.facts.registry import DOCUMENTS
from policies.facts.snapshot import NOTHING_KNOWN, Facts, ReadDocument, ReadFacts
from policies.rulebook import Rulebook

REMEMBERED = timedelta(seconds=5)  # a storm of batches reads once; a person's word counts as soon as they look
MOST_REMEMBERED = 20_000
Nodes = Mapping[NodeKey, Sequence[Arrival]]


class FactBook:
    """Reads with *reader*; what it cannot understand it tells *telemetry*."""

    def __init__(self, reader: FactReader, telemetry: Telemetry) -> None:
        """Remember nothing yet."""
        self._reader = reader
        self._telemetry = telemetry
        self._known: dict[FactKey, ReadDocument | None] = {}
        self._until: dict[FactKey, datetime] = {}

    def of(self, nodes: Nodes, rulebook: Rulebook, now: datetime) -> Mapping[NodeKey, Facts]:
        """Return the facts that *rulebook* may ask of each of *nodes*; who is asked nothing is left out.

        Raises:
            DependencyError: the documents could not be read.
        """
        if not rulebook.asks_facts:
            return {}
        wanted = {key: frozenset(_asked(arrivals, rulebook)) for key, arrivals in nodes.items()}
        self._look_up(frozenset().union(*wanted.values()), now)
        return {key: self._facts(asked, now) for key, asked in wanted.items() if asked}

    @property
    def remembered(self) -> int:
        """How many documents are kept."""
        return len(self._until)

    def _look_up(self, keys: Collection[FactKey], now: datetime) -> None:
        self._forget(now)
        missing = [key for key in sorted(keys) if key not in self._until or now >= self._until[key]]
        if not missing:
            return
        if len(self._until) + len(missing) > MOST_REMEMBERED:
            self._known.clear()
            self._until.clear()
            missing = sorted(keys)
        texts = self._reader.read(missing)
        for key in missing:
            self._known[key] = self._understood(key, texts.get(key), now)
            self._until[key] = now + REMEMBERED

    def _forget(self, now: datetime) -> None:
        """Drop what counts no more: a history takes 80 KiB once it is read, and a fleet has thousands of them."""
        for key in [*takewhile(lambda key: now >= self._until[key], self._until)]:  # what was read first is first
            del self._until[key], self._known[key]

    def _understood(self, key: FactKey, text: str | None, now: datetime) -> ReadDocument | None:
        """A document that cannot be read answers nothing: its facts are unknown, and everything else goes on."""
        try:
            return ReadDocument(None if text is None else DOCUMENTS[key.document].parse(text), now)
        except ValueError as error:
            self._telemetry.count("FactsUnreadable")
            self._telemetry.warn("a document of facts cannot be read", **key._asdict(), reason=str(error)[:200])
            return None

    def _facts(self, asked: Collection[FactKey], now: datetime) -> Facts:
        read = {(key.document, key.subject): self._known[key] for key in asked}
        known = {place: one for place, one in read.items() if one is not None}
        return ReadFacts(known, now) if known else NOTHING_KNOWN


def _asked(arrivals: Sequence[Arrival], rulebook: Rulebook) -> Iterator[FactKey]:
    for arrival in arrivals:
        envelope = arrival.delivery.parsed.envelope
        for event in envelope.events:
            for name in rulebook.facts_asked(event):
                subject = DOCUMENTS[name].subject(event, envelope.node)
                if subject is not None:
                    yield FactKey(envelope.node.cluster, name, subject)
