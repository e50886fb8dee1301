"""A policies table as the guard leaves it, and a whole folder written into one."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from functools import cache
from typing import Any

from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.times import format_time
from policies.documents import fingerprint, sealed
from tests.tools.envelopes import NOW, shipped_documents


def in_force(documents: Iterable[Mapping[str, Any]] | None = None) -> MemoryPolicies:
    """Return a table with *documents* (the shipped ones) in force."""
    return _judged(documents) if documents is not None else deepcopy(_shipped())


@cache
def _shipped() -> MemoryPolicies:
    """Judged once a process: a guard takes a second over all of them."""
    return _judged(shipped_documents())


def _judged(documents: Iterable[Mapping[str, Any]]) -> MemoryPolicies:
    table = MemoryPolicies()
    guard = Guard(table, MemoryNotices(), MemoryTelemetry(), lambda: NOW)
    for document in documents:
        table.put_live(document)
        guard.look_at(document["name"])
    return table


def push(
    policies: DynamoPolicies, documents: Iterable[Mapping[str, Any]], *, edited_by: str, now: datetime
) -> Sequence[str]:
    """Write *documents* (policies as their YAML reads) as `live` items; return the names of those that changed.

    What stands there already, field by field, is left alone, so that pushing twice is no second edit. What somebody
    edits meanwhile ends it: EditedMeanwhileError.
    """
    changed = []
    for document in documents:
        name = str(document["name"])
        there = policies.live(name)
        if there is None or fingerprint(there) != fingerprint(document):
            edited = sealed({**document, "edited_by": edited_by, "edited_at": format_time(now)})
            policies.replace_live(there, edited)
            changed.append(name)
    return changed
