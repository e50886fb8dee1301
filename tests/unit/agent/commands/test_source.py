"""The thread that looks for commands: what it says of this node, and that a fault makes it look soon."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.commands.pacing import Pacing, ServerClock
from agent.commands.source import CommandSource, Node
from agent.commands.table import NodeTable
from agent.commands.worker import Clocks
from agent.main import utc_now
from agent.spool.spool import Spool
from functions.twins.commands import MemoryCommands, MemoryNodeTable
from policies.contract.commands.command import CommandRecord, CommandStatus, Look, new_command
from policies.contract.commands.operations import Operation, ResetGpu
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import Severity
from tests.tools.agent_events import make_event
from tests.tools.command_doings import FakeDoing
from tests.tools.commands import NODE
from tests.tools.sources import eventually, following, started


class Counting(MemoryNodeTable):
    """Counts looks; the first ``away`` of them fail."""

    looks = 0
    away = 0

    def look(self) -> Look:
        self.looks += 1
        if self.looks <= self.away:
            raise DependencyError("DynamoDB is not reached.")
        return super().look()


@contextmanager
def looking(
    folder: Path, table: NodeTable, fake: FakeDoing, calm: float, ticks: Callable[[], float] = time.monotonic
) -> Iterator[Spool]:
    def begin(spool: Spool, stop: threading.Event) -> threading.Thread:
        node = Node(spool, "b", frozenset({Operation.RESET_GPU}), 5.0, ticks)
        clocks = Clocks(ServerClock(utc_now, time.monotonic), Pacing(calm, ticks))
        return started(CommandSource(table, {Operation.RESET_GPU: fake}, node, clocks).run, stop)

    with following(folder, begin) as spool:
        yield spool


def issue(commands: MemoryCommands) -> CommandRecord:
    return commands.put(new_command("0c" * 16, NODE, Operation.RESET_GPU, ResetGpu(), utc_now()))


def is_done(commands: MemoryCommands, record: CommandRecord) -> bool:
    stands = commands.get(NODE, record.command.id)
    return stands is not None and stands.status is CommandStatus.DONE


def test_it_says_what_the_node_takes_and_does_what_is_there(tmp_path: Path) -> None:
    commands, fake = MemoryCommands(), FakeDoing()
    record = issue(commands)
    with looking(tmp_path, commands.of(NODE), fake, 0.05):
        eventually(lambda: is_done(commands, record))
    taken = commands.taken(NODE, utc_now())
    assert taken
    assert (taken.operations, taken.boot_id) == ((Operation.RESET_GPU,), "b")
    assert len(fake.runs) == 1


class Hand:
    """A clock that is moved by hand, and counts who asks it."""

    def __init__(self) -> None:
        self.now, self.asked = 0.0, 0

    def __call__(self) -> float:
        self.asked += 1
        return self.now


def test_a_severe_event_makes_a_calm_node_look_soon_and_a_mild_one_does_not(tmp_path: Path) -> None:
    commands, clock = MemoryCommands(), Hand()
    table = Counting(commands, NODE)
    with looking(tmp_path, table, FakeDoing(), 60.0, clock) as spool:
        eventually(lambda: table.looks == 1)
        spool.append([make_event("mild", Severity.WARNING)])
        clock.now, asked = 30.0, clock.asked
        eventually(lambda: clock.asked >= asked + 3)  # the source has seen it, and what time it is
        assert table.looks == 1
        record = issue(commands)
        spool.append([make_event("severe", Severity.ERROR)])
        eventually(lambda: clock.asked >= asked + 6)
        clock.now = 33.0
        eventually(lambda: is_done(commands, record))


def test_a_table_that_was_away_is_found_again(tmp_path: Path) -> None:
    commands = MemoryCommands()
    table = Counting(commands, NODE)
    table.away = 3
    record = issue(commands)
    with looking(tmp_path, table, FakeDoing(), 0.02):
        eventually(lambda: is_done(commands, record))
    assert table.looks > 3


def test_it_shows_what_it_takes_and_that_the_table_is_not_reached(tmp_path: Path) -> None:
    table = Counting(MemoryCommands(), NODE)
    table.away = 1000
    made: list[CommandSource] = []

    def begin(spool: Spool, stop: threading.Event) -> threading.Thread:
        node = Node(spool, "b", frozenset({Operation.RESET_GPU}), 5.0, time.monotonic)
        clocks = Clocks(ServerClock(utc_now, time.monotonic), Pacing(0.05, time.monotonic))
        made.append(CommandSource(table, {Operation.RESET_GPU: FakeDoing()}, node, clocks))
        return started(made[0].run, stop)

    with following(tmp_path, begin):
        eventually(lambda: made[0].status()["failed_looks"] > 0)
        assert made[0].status()["takes"] == ["reset_gpu"]
        assert made[0].status()["in_hand"] == []
