"""The facts about a node while its events are judged: those that were read, or those that somebody states.

Decides what a member holds for an event, and how old that is. What was not read, or cannot be, is unknown; nothing
raises. It must not read tables or a clock.
"""

from collections.abc import Collection, Hashable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, Scalar
from policies.facts.fact import About
from policies.facts.registry import AGE, DOCUMENTS, document_of, documents_of


class Facts(Protocol):
    """What is known."""

    def read(self, member: str, event: FaultEvent, node: NodeIdentity) -> Scalar | None:
        """Return what *member* holds where *event* of *node* asks; None when that is unknown."""
        ...

    def age(self, documents: Collection[str], event: FaultEvent, node: NodeIdentity) -> float | None:
        """Return how many seconds old the oldest of *documents* is; None when none of them was read."""
        ...

    def of_what(self, member: str, event: FaultEvent, node: NodeIdentity) -> str:
        """Return of what *member* says what it holds, in words; empty where that needs no saying, or nobody knows."""
        ...


class StatedFacts:
    """What somebody states, by member: an example, a test, a person who tries a policy."""

    def __init__(self, stated: Mapping[str, Scalar] | None = None) -> None:
        """Know what is *stated*, of whatever node."""
        self._stated = dict(stated or {})

    def read(self, member: str, _event: FaultEvent, _node: NodeIdentity) -> Scalar | None:
        """See `Facts`."""
        return self._stated.get(member)

    def age(self, _documents: Collection[str], _event: FaultEvent, _node: NodeIdentity) -> float | None:
        """See `Facts`."""
        stated = self._stated.get(AGE)
        return float(stated) if isinstance(stated, int | float) else None

    def of_what(self, _member: str, _event: FaultEvent, _node: NodeIdentity) -> str:
        """See `Facts`."""
        return ""


NOTHING_KNOWN = StatedFacts()


class ReadDocument(NamedTuple):
    """A document as it was read then; None when there is none."""

    document: Any
    read_at: datetime


class ReadFacts:
    """The facts about one node in documents: (name, subject) -> what was read. What is unreadable is left out."""

    def __init__(self, documents: Mapping[tuple[str, str], ReadDocument], now: datetime) -> None:
        """Answer from *documents*, at the moment *now*."""
        self._documents = documents
        self._now = now
        self._answers: dict[tuple[str, str, Hashable], Mapping[str, Scalar]] = {}

    def read(self, member: str, event: FaultEvent, node: NodeIdentity) -> Scalar | None:
        """See `Facts`."""
        kind = document_of(member)
        subject = kind.subject(event, node) if kind else None
        if kind is None or subject is None:
            return None
        key = (kind.name, subject, kind.varies(event, node) if kind.varies else None)
        known = self._answers.get(key)
        if known is None:
            found = self._documents.get((kind.name, subject))
            known = kind.answer(found.document, About(event, node, self._now)) if found else {}
            self._answers[key] = known
        return known.get(member)

    def age(self, documents: Collection[str], event: FaultEvent, node: NodeIdentity) -> float | None:
        """See `Facts`."""
        found = ((name, self._find(name, event, node)) for name in documents)
        ages = [(self._now - _as_of(name, one)).total_seconds() for name, one in found if one]
        return max(0.0, *ages) if ages else None

    def of_what(self, member: str, event: FaultEvent, node: NodeIdentity) -> str:
        """See `Facts`."""
        kind = document_of(member)
        found = self._find(kind.name, event, node) if kind and kind.of_what else None
        return kind.of_what(found.document, About(event, node, self._now)) if kind and kind.of_what and found else ""

    def _find(self, name: str, event: FaultEvent, node: NodeIdentity) -> ReadDocument | None:
        subject = DOCUMENTS[name].subject(event, node)
        return None if subject is None else self._documents.get((name, subject))


def _as_of(name: str, read: ReadDocument) -> datetime:
    as_of = DOCUMENTS[name].as_of
    return read.read_at if as_of is None or read.document is None else min(as_of(read.document), read.read_at)


def told(facts: Facts, members: Collection[str], event: FaultEvent, node: NodeIdentity) -> dict[str, Scalar]:
    """Return what *members* hold, without what is unknown; with their age when it is known."""
    values = {member: facts.read(member, event, node) for member in members if member != AGE}
    known: dict[str, Scalar] = {member: value for member, value in values.items() if value is not None}
    age = facts.age(documents_of(values), event, node) if known else None
    return known if age is None else {**known, AGE: round(age, 1)}
