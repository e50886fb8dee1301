"""What a fact is, and what a document is that answers some: the two shapes that everything in this folder fills.

A fact is a member of `node`, `job`, `neighbours` or `capacity` that no event tells. It is answered from a small
document of the fleet table, which one writer keeps. What no document answers is unknown: a condition that needs it is
unanswered. It must not know which facts there are (`registry.py` does) or how documents are read.

To add a document: write ``policies/facts/<name>.py`` with its model, its facts and one `FactDocument` (`maintenance.py`
is a short one), and put that into `registry.DOCUMENTS`. That is all that conditions, lint, triage and explain need.
Whoever writes the document does so through `functions/ports/facts.py`, or as its own store does, as JSON in the
attribute ``document``. `tests/unit/test_documents.py` then asks for the facts' lines in docs/policies.md.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, Scalar

D = TypeVar("D")


class FactType(StrEnum):
    """What a fact holds. CEL compares both numbers with each other, and adds only those of one type."""

    WHOLE = "whole number"
    NUMBER = "number"
    FLAG = "true or false"


class Fact(NamedTuple):
    """One fact: its member, what it holds, and one line that says what it means."""

    member: str
    type: FactType
    says: str

    def holds(self, value: Scalar) -> bool:
        """Tell whether *value* is one that this fact may hold."""
        if self.type is FactType.FLAG or isinstance(value, bool):
            return self.type is FactType.FLAG and isinstance(value, bool)
        return isinstance(value, int) or (self.type is FactType.NUMBER and isinstance(value, float))


class About(NamedTuple):
    """What a fact is asked about, and when."""

    event: FaultEvent
    node: NodeIdentity
    now: datetime


@dataclass(frozen=True)
class FactDocument(Generic[D]):
    """A kind of document and the facts that it answers.

    ``subject`` names whose document an event asks for: an instance, a job, "" for the cluster's one; None when it asks
    for none. ``sort_key`` says where that one lies below ``CLUSTER#<cluster>``. ``parse`` reads what its writer wrote
    and raises ValueError for anything else. ``answer`` gets None when nothing was ever written, and leaves out what is
    unknown. ``as_of`` says from when a measured document is; what is written at each change is as old as its reading.
    ``varies`` names what of an event and its node the answer depends on besides the subject, None where it depends on
    nothing. ``of_what`` says in words of what the answer is, where that is not always the subject.
    """

    name: str
    facts: tuple[Fact, ...]
    subject: Callable[[FaultEvent, NodeIdentity], str | None]
    sort_key: Callable[[str], str]
    parse: Callable[[str], D]
    answer: Callable[[D | None, About], Mapping[str, Scalar]]
    as_of: Callable[[D], datetime] | None = None
    varies: Callable[[FaultEvent, NodeIdentity], Hashable] | None = None
    of_what: Callable[[D | None, About], str] | None = None


def of_instance(_event: FaultEvent, node: NodeIdentity) -> str | None:
    """Return the instance that the event came from."""
    return node.instance_id or None


def of_job(event: FaultEvent, _node: NodeIdentity) -> str | None:
    """Return the job that the event names."""
    return event.job.id if event.job else None


def of_cluster(_event: FaultEvent, _node: NodeIdentity) -> str | None:
    """Return the subject of what there is once a cluster."""
    return ""
