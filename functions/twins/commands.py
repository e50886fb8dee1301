"""Commands in memory: the pipeline's side and, by `of`, the side of each node's agent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from policies.contract.commands.command import (
    Claim,
    Command,
    CommandRecord,
    CommandStatus,
    Look,
    Result,
    begin,
    end,
    expire,
    turn_down,
)
from policies.contract.commands.items import TAKEN_KEPT
from policies.contract.commands.operations import Taken

Step = Callable[[CommandRecord], CommandRecord | None]


@dataclass
class MemoryCommands:
    """See `functions/ports/commands.py`."""

    records: dict[tuple[str, str], CommandRecord] = field(default_factory=dict)
    agents: dict[str, Taken] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def put(self, command: Command) -> CommandRecord:
        """See the port."""
        with self.lock:
            return self.records.setdefault((command.node, command.id), CommandRecord(command=command))

    def get(self, node: str, command_id: str) -> CommandRecord | None:
        """See the port."""
        return self.records.get((node, command_id))

    def expire(self, record: CommandRecord, now: datetime) -> CommandRecord:
        """See the port."""
        if expire(record, now) != record:
            self.step(record, lambda stands: expire(stands, now))
        return self.records[record.command.node, record.command.id]

    def taken(self, node: str, now: datetime) -> Taken | None:
        """See the port."""
        found = self.agents.get(node)
        return found if found and found.at + TAKEN_KEPT > now else None

    def step(self, record: CommandRecord, step: Step) -> bool:
        """Take a step on what stands, if it may be taken."""
        key = (record.command.node, record.command.id)
        with self.lock:
            after = step(self.records[key]) if key in self.records else None
            if after is not None:
                self.records[key] = after
            return after is not None

    def of(self, node: str) -> "MemoryNodeTable":
        """Return the table as the agent of *node* sees it."""
        return MemoryNodeTable(self, node)


@dataclass
class MemoryNodeTable:
    """See `agent/commands/table.py`. ``server_time`` is what its looks tell."""

    commands: MemoryCommands
    node: str
    server_time: Callable[[], datetime | None] = lambda: None

    def look(self) -> Look:
        """See the port."""
        mine = [record for (node, _), record in self.commands.records.items() if node == self.node]
        return Look([record for record in mine if record.status.is_open], self.server_time())

    def begin(self, record: CommandRecord, claim: Claim) -> bool:
        """See the port."""
        return self.commands.step(record, lambda stands: begin(stands, claim))

    def end(self, record: CommandRecord, claim: Claim, status: CommandStatus, result: Result) -> bool:
        """See the port."""
        return self.commands.step(record, lambda stands: end(stands, claim, status, result))

    def turn_down(self, record: CommandRecord, result: Result) -> bool:
        """See the port."""
        return self.commands.step(record, lambda stands: turn_down(stands, result))

    def announce(self, taken: Taken) -> None:
        """See the port."""
        self.commands.agents[self.node] = taken
