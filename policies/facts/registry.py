"""All facts there are, and the documents that answer them.

Decides which document a member is answered from. It must not know what a fact means or who asks.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from policies.facts.capacity import CAPACITY
from policies.facts.fact import Fact, FactDocument, FactType
from policies.facts.history import HISTORY
from policies.facts.job import JOB
from policies.facts.maintenance import MAINTENANCE
from policies.facts.recent import RECENT

DOCUMENTS: Mapping[str, FactDocument[Any]] = {one.name: one for one in (CAPACITY, HISTORY, JOB, MAINTENANCE, RECENT)}
"""By name."""

AGE = "facts.age_seconds"
"""How old the oldest document is that the same condition asks: no document's own."""

_AGE = Fact(AGE, FactType.NUMBER, "how old the oldest document is that the other facts of the same condition are of")
FACTS: Mapping[str, Fact] = {fact.member: fact for each in DOCUMENTS.values() for fact in each.facts} | {AGE: _AGE}
"""By member."""

_DOCUMENT_OF = {fact.member: each for each in DOCUMENTS.values() for fact in each.facts}
FLAGS = frozenset(member for member, fact in FACTS.items() if fact.type is FactType.FLAG)
NUMBERS = frozenset(FACTS) - FLAGS
ROOTS = tuple(sorted({member.partition(".")[0] for member in FACTS}))


def document_of(member: str) -> FactDocument[Any] | None:
    """Return the document that answers *member*; None when it is no document's."""
    return _DOCUMENT_OF.get(member)


def documents_of(members: Iterable[str]) -> frozenset[str]:
    """Return the names of the documents that answer *members*."""
    return frozenset(_DOCUMENT_OF[member].name for member in members if member in _DOCUMENT_OF)
