"""One policy on a table in memory, and the guard over it: what tests of the guard write, look at and are told."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from functions.guard.guard import Guard
from functions.ports.policies import Head
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from tests.tools.envelopes import NOW, shipped_documents

DOCUMENT = {**next(one for one in shipped_documents() if one["name"].startswith("xid-79")), "mode": "active"}
NAME = DOCUMENT["name"]


class Desk:
    """Its clock goes on by a second a look."""

    def __init__(self, table: MemoryPolicies | None = None) -> None:
        """Use *table*, or an empty one."""
        self.table, self.telemetry, self.notices = table or MemoryPolicies(), MemoryTelemetry(), MemoryNotices()
        self.now = NOW
        self.guard = Guard(self.table, self.notices, self.telemetry, lambda: self.now)

    def put(self, item: Mapping[str, Any]) -> Head:
        """Write the item and have the guard look."""
        self.table.put_live(item)
        return self.look()

    def put_and_rest(self, item: Mapping[str, Any]) -> Head:
        """Write the item and let the guard look as often as it likes: only the first time may change anything."""
        self.put(item)
        before = (dict(self.table.live_items[NAME]), dict(self.notices.told), self.table.in_force[NAME])
        self.look()
        assert (self.table.live_items[NAME], self.notices.told, self.table.in_force[NAME]) == before
        return self.table.in_force[NAME]

    def change(self, **fields: Any) -> Head:  # noqa: ANN401 - fields of a document
        """As AWS's console does: whatever else stands on the item stays."""
        return self.put({**self.table.live_items[NAME], **fields})

    def look(self) -> Head:
        """Have the guard look, and return what is in force then."""
        self.now += timedelta(seconds=1)
        self.guard.look_at(NAME)
        return self.table.in_force[NAME]

    def told(self) -> list[str]:
        """Return what people were told, and of whom."""
        return [f"{each.kind} by {each.by}" for each in self.notices.told.values()]

    @property
    def verdict(self) -> dict[str, Any]:
        """What stands on the item."""
        verdict: dict[str, Any] = self.table.live_items[NAME]["verdict"]
        return verdict
