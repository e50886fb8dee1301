"""Commands carried out by the worker, on the twin of the table: once, in time, and told whatever happens."""

import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from agent.commands.doing import Outcome, Resource
from agent.commands.judging import Self
from agent.commands.pacing import Pacing, ServerClock
from agent.commands.worker import Clocks, CommandWorker
from functions.twins.commands import MemoryCommands, MemoryNodeTable
from policies.contract.commands.command import Claim, CommandRecord, CommandStatus
from policies.contract.commands.operations import Operation
from policies.contract.errors import DependencyError
from tests.tools.command_doings import FakeDoing
from tests.tools.commands import NODE, START, at, claim, command
from tests.tools.faulty_ports import LosesAnswers
from tests.tools.sources import eventually

ALL = frozenset(Operation)


class Bench:
    """A worker on one node, and its table seen from the other side."""

    def __init__(self, table: Any = None, takes: frozenset[Operation] = ALL) -> None:  # noqa: ANN401 - a faulty one
        self.commands = MemoryCommands()
        self.fake, self.evidence = FakeDoing(), FakeDoing(Resource.EVIDENCE)
        self.stop = threading.Event()
        self.now = at(5)
        self.table: MemoryNodeTable = self.commands.of(NODE)
        self.table.server_time = lambda: self.now
        self.me = Self("spool-1", "boot-1", takes)
        self.worker = self.begin(table or self.table)

    def begin(self, table: Any) -> CommandWorker:  # noqa: ANN401 - as above
        doings = {
            Operation.RESET_GPU: self.fake,
            Operation.BURN_IN: self.fake,
            Operation.COLLECT_EVIDENCE: self.evidence,
        }
        clocks = Clocks(ServerClock(self.wall, lambda: 0.0), Pacing(30, lambda: 0.0))
        return CommandWorker(table, doings, lambda: self.me, clocks, self.stop)

    def wall(self) -> datetime:
        return START

    def issue(self, operation: Operation = Operation.RESET_GPU, **fields: Any) -> CommandRecord:  # noqa: ANN401
        return self.commands.put(command(operation, **fields))

    def stands(self, record: CommandRecord) -> CommandRecord:
        found = self.commands.get(NODE, record.command.id)
        assert found is not None
        return found

    def ended(self, record: CommandRecord) -> CommandRecord:
        eventually(lambda: not self.stands(record).status.is_open)
        eventually(lambda: record.command.id not in self.worker.in_hand)
        return self.stands(record)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.fake.gate.set()
    made.stop.set()
    made.worker.join(10)


def test_a_command_is_done_once_and_told(bench: Bench) -> None:
    record = bench.issue()
    bench.worker.step()
    stands = bench.ended(record)
    bench.worker.step()
    assert bench.fake.runs == [record.command.id]
    assert (stands.status, stands.claim) == (CommandStatus.DONE, claim(5))
    assert stands.result
    assert (stands.result.output, stands.result.truncated) == ("done", False)


def test_while_it_is_done_further_looks_leave_it_alone(bench: Bench) -> None:
    bench.fake.gate.clear()
    record = bench.issue()
    bench.worker.step()
    eventually(lambda: bench.stands(record).status is CommandStatus.RUNNING)
    for _ in range(3):
        bench.worker.step()
    bench.fake.gate.set()
    bench.ended(record)
    assert bench.fake.runs == [record.command.id]
    assert bench.fake.looks == []


def test_what_needs_the_same_thing_waits_its_turn_and_the_rest_does_not(bench: Bench) -> None:
    bench.fake.gate.clear()
    first, second = bench.issue(), bench.issue(Operation.BURN_IN, name="two", issued=1)
    third = bench.issue(Operation.COLLECT_EVIDENCE, name="three", issued=2)
    bench.worker.step()
    assert bench.ended(third).status is CommandStatus.DONE
    assert bench.stands(second).status is CommandStatus.PENDING
    bench.fake.gate.set()
    bench.ended(first)
    bench.worker.step()
    assert bench.ended(second).status is CommandStatus.DONE
    assert bench.fake.runs == [first.command.id, second.command.id]


def test_what_is_not_allowed_is_refused_and_never_begun(bench: Bench) -> None:
    bench.me = Self("spool-1", "boot-1", frozenset({Operation.COLLECT_EVIDENCE}))
    record = bench.issue()
    bench.worker.step()
    stands = bench.stands(record)
    assert (stands.status, bench.fake.runs) == (CommandStatus.REFUSED, [])
    assert stands.result
    assert "not allowed on this node" in stands.result.reason


def test_a_precondition_that_does_not_hold_refuses(bench: Bench) -> None:
    bench.fake.refuses = "process 7 holds the GPU"
    record = bench.issue()
    bench.worker.step()
    stands = bench.ended(record)
    assert stands.status is CommandStatus.REFUSED
    assert stands.result
    assert stands.result.reason == "process 7 holds the GPU"
    assert bench.fake.runs == []


def test_parameters_of_nobody_are_refused(bench: Bench) -> None:
    good = command()
    record = bench.commands.put(good.model_copy(update={"params": {"command": "reboot"}}))
    bench.worker.step()
    assert bench.stands(record).status is CommandStatus.REFUSED
    assert bench.fake.runs == []


def test_what_breaks_is_told_with_its_reason(bench: Bench) -> None:
    bench.fake.raises = OSError("no such device")
    record = bench.issue()
    bench.worker.step()
    stands = bench.ended(record)
    assert stands.status is CommandStatus.FAILED
    assert stands.result
    assert "no such device" in stands.result.reason


def test_a_long_output_is_cut_to_its_end(bench: Bench) -> None:
    bench.fake.outcome = Outcome(ok=True, output="x" * 9000 + "the verdict")
    record = bench.issue()
    bench.worker.step()
    told = bench.ended(record).result
    assert told
    assert (len(told.output), told.truncated) == (4096, True)
    assert told.output.endswith("the verdict")


def test_an_old_command_is_not_begun_though_the_nodes_clock_is_an_hour_slow(bench: Bench) -> None:
    record = bench.issue()
    bench.now = at(3600)
    bench.worker.step()
    assert bench.stands(record).status is CommandStatus.PENDING
    assert bench.fake.runs == []


@pytest.mark.parametrize(("begun_by", "rebooted"), [(claim(), False), (claim(boot_id="boot-0"), True)])
def test_what_was_begun_before_a_crash_or_a_reboot_is_looked_at_and_never_done_again(
    bench: Bench, begun_by: Claim, rebooted: bool
) -> None:
    record = bench.issue()
    bench.table.begin(record, begun_by)
    bench.worker.step()
    stands = bench.ended(record)
    assert bench.fake.runs == []
    assert [look.rebooted for look in bench.fake.looks] == [rebooted]
    assert (stands.status, stands.claim) == (CommandStatus.FAILED, begun_by)
    assert stands.result
    assert stands.result.reason.endswith("in the middle of it; nobody can tell")


def test_what_was_seen_to_have_worked_after_a_crash_is_done(bench: Bench) -> None:
    bench.fake.back = Outcome(ok=True)
    record = bench.issue()
    bench.table.begin(record, claim())
    bench.worker.step()
    assert bench.ended(record).status is CommandStatus.DONE


@pytest.mark.parametrize("method", ["begin", "end", "turn_down"])
def test_a_lost_answer_does_nothing_twice(bench: Bench, method: str) -> None:
    bench.worker = bench.begin(LosesAnswers(bench.table, method))
    bench.fake.refuses = "no" if method == "turn_down" else ""
    record = bench.issue()
    bench.worker.step()
    if method == "turn_down":
        bench.worker.step()
    stands = bench.ended(record)
    assert stands.status is (CommandStatus.REFUSED if method == "turn_down" else CommandStatus.DONE)
    assert len(bench.fake.runs) == (method != "turn_down")


def test_of_two_agents_one_does_it(bench: Bench) -> None:
    record = bench.issue()
    other = Bench()
    other.commands, other.table = bench.commands, bench.table
    other.me = Self("spool-2", "boot-1", ALL)
    other.worker = other.begin(bench.table)
    bench.worker.step()
    other.worker.step()
    bench.ended(record)
    other.worker.join(10)
    assert len(bench.fake.runs) + len(other.fake.runs) == 1


class Away(MemoryNodeTable):
    """A table that takes no claim for a while."""

    until = 2

    def begin(self, record: CommandRecord, claim: Any) -> bool:  # noqa: ANN401 - as the port has it
        if self.until:
            self.until -= 1
            raise DependencyError("DynamoDB is not reached.")
        return super().begin(record, claim)


def test_a_claim_that_could_not_be_written_in_time_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.commands.worker._TELL_AGAIN_SECONDS", 0.01)
    away = Away(bench.commands, NODE)
    ticks = iter([0.0, 0.0, 0.0, 0.0, 500.0])
    away.server_time = lambda: at(5)
    record = bench.issue()
    clock = ServerClock(bench.wall, lambda: next(ticks, 500.0))
    bench.worker = CommandWorker(
        away, {Operation.RESET_GPU: bench.fake}, lambda: bench.me, Clocks(clock, Pacing(30, lambda: 0.0)), bench.stop
    )
    bench.worker.step()
    bench.worker.join(10)
    assert bench.fake.runs == []
    assert bench.stands(record).status is CommandStatus.PENDING
