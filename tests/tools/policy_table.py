"""A policies table as the guard leaves it."""

from collections.abc import Iterable, Mapping
from typing import Any

from functions.guard.guard import Guard
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from tests.tools.envelopes import NOW, shipped_documents


def in_force(documents: Iterable[Mapping[str, Any]] | None = None) -> MemoryPolicies:
    """Return a table with *documents* (the shipped ones) in force."""
    table = MemoryPolicies()
    guard = Guard(table, MemoryTelemetry(), lambda: NOW)
    for document in shipped_documents() if documents is None else documents:
        table.put_live(document)
        guard.look_at(document["name"])
    return table
