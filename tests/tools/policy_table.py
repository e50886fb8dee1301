"""A policies table as the guard leaves it."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
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
