"""A policies table in memory with a guard over it, and persons who edit: by commands from folders, or in a console."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from console.policy import pulling, pushing, rolling_back
from console.policy.answering import Answer
from console.policy.edits import Editor
from console.policy.pushing import Gate
from console.policy.yaml_writing import as_yaml
from functions.guard.guard import Guard
from functions.ports.policies import Head
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.documents import BOOKKEEPING
from tests.tools.envelopes import NOW, SHIPPED, shipped_documents

DOCUMENT = {**next(one for one in shipped_documents() if one["name"].startswith("xid-79")), "mode": "active"}
NAME = DOCUMENT["name"]
OTHER = {**next(one for one in shipped_documents() if one["name"].startswith("xid-48")), "mode": "active"}


class Desk:
    """The table. Whoever waits for the guard lets it look."""

    def __init__(self) -> None:
        self.table, self.notices = MemoryPolicies(), MemoryNotices()
        self.now = NOW
        self.guard = Guard(self.table, self.notices, MemoryTelemetry(), self.clock)

    def clock(self) -> datetime:
        return self.now

    def look(self, *_seconds: float) -> None:
        """Let the guard look at everything that is or was there."""
        self.now += timedelta(seconds=1)
        for name in sorted({*self.table.live_items, *self.table.in_force}):
            self.guard.look_at(name)

    def in_console(self, name: str = NAME, **fields: Any) -> None:  # noqa: ANN401 - fields of a document
        """Edit some fields as AWS's console does; the rest stays, who edited before among it."""
        self.table.live_items[name] |= fields
        self.look()

    def delete(self, name: str = NAME) -> None:
        del self.table.live_items[name]
        self.look()

    def head(self, name: str = NAME) -> Head:
        return self.table.in_force[name]

    def fields(self, name: str = NAME) -> dict[str, Any]:
        return {key: value for key, value in self.table.live_items[name].items() if key not in BOOKKEEPING}


class Person:
    """Who edits from a folder of their own."""

    def __init__(self, desk: Desk, folder: Path, *documents: Mapping[str, Any]) -> None:
        self.desk, self.folder, self.name = desk, folder, folder.name
        self.answer = Answer("")
        folder.mkdir(exist_ok=True)
        for document in documents:
            self.write(document)

    def told(self, action: str) -> Answer:
        """Take a new answer for what this person does next, which stays here to look at."""
        self.answer = Answer(action)
        return self.answer

    def write(self, document: Mapping[str, Any]) -> Path:
        file = self.folder / f"{document['name']}.yaml"
        file.write_text(as_yaml(document), encoding="utf-8")
        return file

    def push(
        self,
        *,
        gates: Sequence[Gate] = (),
        reason: str = "",
        pause: Callable[[float], None] | None = None,
        **wish: Any,  # noqa: ANN401 - of a Wish
    ) -> int:
        desk = self.desk
        asked = {"paths": [self.folder], "editor": Editor(self.name, desk.now, reason), "shipped": SHIPPED, **wish}
        status = pushing.push(
            desk.table, pushing.Wish(**asked), self.told("push"), gates, clock=desk.clock, pause=pause or desk.look
        )
        desk.look()
        return status

    def pull(self, *names: str, force: bool = False) -> int:
        return pulling.pull(self.desk.table, pulling.Wish(names, self.folder, force, SHIPPED), self.told("pull"))

    def roll_back(self, name: str = NAME, to: int = 0, reason: str = "") -> int:
        desk = self.desk
        wish = rolling_back.Wish(name, Editor(self.name, desk.now, reason), to)
        return rolling_back.roll_back(desk.table, wish, self.told("rollback"), clock=desk.clock, pause=desk.look)
