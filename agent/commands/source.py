"""The thread that looks for commands: says what this node takes, looks, and waits for the next look.

Decides nothing about a command. It must not know DynamoDB or operations.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.commands.judging import Self
from agent.commands.pacing import Pacing
from agent.commands.table import NodeTable
from agent.commands.worker import Clocks, CommandWorker, Doings
from agent.spool.spool import Spool
from policies.contract.commands.operations import Operation, Taken
from policies.contract.errors import DependencyError

log = logging.getLogger(__name__)
_ANNOUNCE_SECONDS = 12 * 3600.0
_SAID_AGAIN = 20  # looks that failed in a row, until it is said again


@dataclass(frozen=True, slots=True)
class Node:
    """What the source needs of this agent. ``takes`` are the operations that are allowed and can be done here."""

    spool: Spool
    boot_id: str
    takes: frozenset[Operation]
    stop_seconds: float
    monotonic: Callable[[], float]

    def me(self) -> Self:
        """Return who this agent is now."""
        return Self(self.spool.heartbeat[0], self.boot_id, self.takes)


class CommandSource:
    """Make one, run it in a thread."""

    def __init__(self, table: NodeTable, doings: Doings, node: Node, clocks: Clocks) -> None:
        """Carry out what *table* holds for *node*."""
        self._table, self._doings, self._node, self._clocks = table, doings, node, clocks
        self._announce_at = float("-inf")
        self._failures = 0
        self._worker: CommandWorker | None = None

    def status(self) -> dict[str, Any]:
        """Return what the status endpoint shows: what is taken, what is being done, how many looks failed in a row."""
        in_hand = sorted(self._worker.in_hand) if self._worker else []
        return {"takes": sorted(self._node.takes), "in_hand": in_hand, "failed_looks": self._failures}

    def run(self, stop: threading.Event) -> None:
        """Look until *stop*; what is being done then gets a moment to be told."""
        worker = self._worker = CommandWorker(self._table, self._doings, self._node.me, self._clocks, stop)
        severe = self._node.spool.severe
        while not stop.is_set():
            self._look(worker)
            severe = self._wait(stop, self._clocks.pacing, severe)
        worker.join(self._node.stop_seconds)

    def _look(self, worker: CommandWorker) -> None:
        try:
            self._announce()
            worker.step()
        except DependencyError as error:
            if self._failures % _SAID_AGAIN == 0:
                log.warning("commands cannot be looked for", extra={"error": str(error)})
            self._failures += 1
            self._clocks.pacing.failed()
        else:
            self._failures = 0
            self._clocks.pacing.succeeded()

    def _announce(self) -> None:
        now = self._node.monotonic()
        if now < self._announce_at:
            return
        takes = tuple(sorted(self._node.takes))
        self._table.announce(Taken(operations=takes, boot_id=self._node.boot_id, at=self._clocks.server.now()))
        self._announce_at = now + _ANNOUNCE_SECONDS

    def _wait(self, stop: threading.Event, pacing: Pacing, severe: int) -> int:
        """Wait for the next look; a severe event of this node makes it come soon. Return how many there were."""
        until = self._node.monotonic() + pacing.wait
        seen = -1
        while not stop.is_set() and (left := until - self._node.monotonic()) > 0:
            seen = self._node.spool.wait(seen, min(left, 1.0))
            if self._node.spool.severe != severe:
                severe = self._node.spool.severe
                pacing.stir()
                until = min(until, self._node.monotonic() + pacing.wait)
        return severe
