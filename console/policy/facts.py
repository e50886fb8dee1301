"""Facts for `relight policy explain`: those that a person states, or those that stand in the documents of a stack.

Decides what of them can be used. It must not know what a fact means.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from console.asked_wrongly import AskedWronglyError
from functions.ports.facts import FactKey, FactReader
from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, Scalar
from policies.facts.maintenance import MAINTENANCE, read_maintenance, why_in_maintenance
from policies.facts.registry import DOCUMENTS, FACTS
from policies.facts.snapshot import Facts, ReadDocument, ReadFacts, StatedFacts


def stated(texts: Iterable[str]) -> StatedFacts:
    """Return the facts in *texts*, ``node.lemon_score=72``; AskedWronglyError says what is none."""
    return StatedFacts(dict(_stated(text) for text in texts))


def _stated(text: str) -> tuple[str, Scalar]:
    member, sign, value = text.partition("=")
    fact = FACTS.get(member.strip())
    if not sign or fact is None:
        raise AskedWronglyError(f"there is no fact {member.strip()!r}.", hint=f"Known: {', '.join(sorted(FACTS))}.")
    try:
        read = json.loads(value)
    except ValueError:
        read = None
    if not isinstance(read, int | float) or not fact.holds(read):
        raise AskedWronglyError(f"{fact.member} is a {fact.type}, not {value!r}.", hint=f"Write {fact.member}=…")
    return fact.member, read


def read_facts(reader: FactReader, events: Sequence[FaultEvent], node: NodeIdentity, now: datetime) -> Facts:
    """Return what the documents say that *events* of *node* may be asked about; what cannot be read is unknown."""
    asked = {(name, kind.subject(event, node)) for event in events for name, kind in DOCUMENTS.items()}
    keys = [FactKey(node.cluster, name, subject) for name, subject in sorted(asked, key=str) if subject is not None]
    texts = reader.read(keys) if keys else {}
    read: dict[tuple[str, str], ReadDocument] = {}
    for key in keys:
        text = texts.get(key)
        try:
            document = None if text is None else DOCUMENTS[key.document].parse(text)
        except ValueError:
            continue
        read[key.document, key.subject] = ReadDocument(document, now)
    return ReadFacts(read, now)


def why_in_hand(reader: FactReader, node: NodeIdentity, now: datetime) -> str:
    """Return who has *node* in hand, until when and why; empty when nobody has."""
    key = FactKey(node.cluster, MAINTENANCE.name, node.instance_id)
    text = reader.read([key]).get(key)
    found = read_maintenance(text) if text is not None else None
    return f"{node.instance_id} {why_in_maintenance(found)}" if found and now < found.until else ""
