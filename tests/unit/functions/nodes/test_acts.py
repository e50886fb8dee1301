"""Rungs that a node's agent carries out: asked once, waited for within bounds, told as what they came to."""

from collections.abc import Callable
from typing import Any

import pytest

from functions.acts.act import Act
from functions.acts.support import Pace
from functions.nodes.acts import ResetGpus, restart_process, restart_service
from functions.nodes.asking import Asking
from functions.twins.commands import MemoryCommands
from policies.contract.commands.command import Claim, CommandRecord, CommandStatus, Result
from policies.contract.commands.operations import Operation, Taken
from policies.contract.errors import DependencyError
from policies.contract.events import Scalar
from policies.contract.rungs import RungStatus
from policies.contract.times import format_time
from policies.contract.vocabulary import Kind, Severity, Source
from policies.coordination.notes import FindingNote
from tests.tools.act_contexts import START, Clock, Drive
from tests.tools.faulty_ports import LosesAnswers

ARNS = "arn:aws:ec2:us-east-1:123456789012:instance/"
NODE = f"{ARNS}i-0a"
GPU, OTHER = "0000:4b:00", "0000:5d:00"
ALL = tuple(Operation)


def note(
    component: str = f"gpu:{GPU}", policy: str = "gpu-lost", kind: Kind = Kind.GPU_XID, **attributes: Scalar
) -> FindingNote:
    return FindingNote(
        id="f",
        policy=policy,
        revision=1,
        kind=kind,
        severity=Severity.CRITICAL,
        source=Source.KERNEL_LOG,
        component=component,
        first_observed_at=START,
        observed_at=START,
        attributes=attributes,
    )


class World:
    def __init__(self, *findings: FindingNote, act: Callable[[Asking], Act] = ResetGpus, lossy: str = "") -> None:
        self.clock = Clock()
        self.commands = MemoryCommands()
        self.says(*ALL)
        port: Any = LosesAnswers(self.commands, lossy) if lossy else self.commands
        asking = Asking(commands=port, instance_arns=ARNS, pace=Pace())
        self.drive = Drive(act(asking), self.clock, node="i-0a", findings=findings or (note(),))

    def says(self, *operations: Operation) -> None:
        self.commands.of(NODE).announce(Taken(operations=operations, boot_id="b", at=self.clock.now))

    @property
    def issued(self) -> list[CommandRecord]:
        return list(self.commands.records.values())

    def begin(self) -> Claim:
        claim = Claim(by="spool", boot_id="b", at=self.clock.now)
        for record in self.issued:
            assert self.commands.of(NODE).begin(record, claim)
        return claim

    def end(self, status: CommandStatus = CommandStatus.DONE, reason: str = "") -> None:
        claim = self.begin()
        for record in self.issued:
            assert self.commands.of(NODE).end(record, claim, status, Result(at=self.clock.now, reason=reason))


def test_one_command_is_issued_however_often_it_is_asked_and_done_when_the_agent_says_so() -> None:
    world = World()
    said = [world.drive().reason for _ in range(3)]
    assert said == ["the node: reset_gpu is pending"] * 3
    world.begin()
    assert world.drive().reason == "the node: reset_gpu is running"
    world.end()
    report = world.drive()
    (record,) = world.issued
    assert report.status is RungStatus.DONE
    assert report.outcome == {"reset_gpus": [GPU], "commands": [record.command.id]}
    assert (record.command.params, record.command.incident, record.command.fence) == (
        {"gpus": [GPU]},
        world.drive.incident,
        1,
    )


def test_the_answer_that_is_lost_issues_no_second_command() -> None:
    world = World(lossy="put")
    with pytest.raises(DependencyError):
        world.drive()
    world.drive.restart()
    world.drive()
    assert len(world.issued) == 1


def test_an_attempt_that_takes_over_finds_the_command_and_another_turn_issues_its_own() -> None:
    world = World()
    world.drive()
    world.clock.move(40)
    world.drive.restart()
    world.drive()
    assert len(world.issued) == 1
    world.drive.intended_at = world.clock.now
    world.drive()
    assert len(world.issued) == 2


@pytest.mark.parametrize("status", [CommandStatus.FAILED, CommandStatus.REFUSED])
def test_a_command_that_did_not_work_fails_the_rung_with_the_agents_words(status: CommandStatus) -> None:
    world = World()
    world.drive()
    if status is CommandStatus.REFUSED:
        world.commands.of(NODE).turn_down(world.issued[0], Result(at=START, reason="process 7 holds the GPU"))
    else:
        world.end(status, "process 7 holds the GPU")
    report = world.drive()
    assert (report.status, report.reason) == (RungStatus.FAILED, f"reset_gpu {status}: process 7 holds the GPU")


def test_a_command_that_nobody_begins_is_given_up_and_stays_so() -> None:
    world = World()
    report = world.drive.until_done(step_seconds=15)
    assert report.status is RungStatus.FAILED
    until = format_time(world.issued[0].command.expires_at)
    assert report.reason == f"reset_gpu: the node's agent did not begin it by {until}"
    assert world.issued[0].status is CommandStatus.EXPIRED


def test_an_agent_that_began_and_fell_silent_is_given_up_after_its_time() -> None:
    world = World()
    world.drive()
    world.begin()
    report = world.drive.until_done(step_seconds=30)
    assert report.status is RungStatus.FAILED
    assert "nothing was heard since" in report.reason
    waited = (world.clock.now - START).total_seconds()
    assert 180 + 60 < waited < 180 + 60 + 90


def test_where_no_agent_takes_commands_nobody_is_asked() -> None:
    world = World()
    world.commands.agents.clear()
    report = world.drive()
    assert (report.status, world.issued) == (RungStatus.FAILED, [])
    assert "takes no commands (its setting commands_table)" in report.reason


def test_an_operation_that_is_not_allowed_there_fails_at_once() -> None:
    world = World()
    world.says(Operation.COLLECT_EVIDENCE)
    report = world.drive()
    assert (report.status, world.issued) == (RungStatus.FAILED, [])
    assert report.reason == "the node's agent does not take reset_gpu (its setting commands_allowed)"


def test_what_is_no_instance_cannot_be_asked() -> None:
    world = World()
    world.drive.node = "training-job/llama"
    assert world.drive().reason == "training-job/llama is no instance whose agent could be asked"


def test_every_gpu_that_the_policy_found_is_reset_and_companions_are_left() -> None:
    world = World(
        note(), note(), note(f"gpu:{OTHER}:GPU-0a1b2c"), note("gpu:0000:64:00", policy="xid-13"), note("nvlink:4")
    )
    world.drive()
    assert world.issued[0].command.params == {"gpus": [GPU, OTHER]}


def test_the_gpu_at_this_end_of_a_link_is_the_one_to_reset() -> None:
    world = World(note(f"nvlink:{GPU}:3", kind=Kind.NVLINK_DOWN), note(f"nvlink:{GPU}:4", kind=Kind.NVLINK_DOWN))
    world.drive()
    assert world.issued[0].command.params == {"gpus": [GPU]}


def test_a_gpu_without_an_address_is_not_guessed() -> None:
    report = World(note("gpu:3")).drive()
    assert (report.status, "PCI address" in report.reason) == (RungStatus.FAILED, True)


def test_the_process_that_was_hit_is_ended_if_it_began_before_the_fault() -> None:
    world = World(note(pid=4711, process="python3"), act=restart_process)
    world.drive()
    params = {"pid": 4711, "gpu": GPU, "started_before": format_time(START)}
    assert [record.command.params for record in world.issued] == [params]
    world.end()
    assert world.drive().status is RungStatus.DONE


def test_where_no_pid_is_known_whoever_holds_the_gpu_is_meant() -> None:
    world = World(note(), act=restart_process)
    world.drive()
    assert world.issued[0].command.params == {"gpu": GPU, "started_before": format_time(START)}


def test_two_processes_are_two_commands_and_both_must_have_worked() -> None:
    world = World(note(pid=4711), note(f"gpu:{OTHER}", pid=4712), act=restart_process)
    world.drive()
    first, second = world.issued
    claim = Claim(by="spool", boot_id="b", at=world.clock.now)
    node = world.commands.of(NODE)
    node.begin(first, claim)
    node.end(first, claim, CommandStatus.DONE, Result(at=START))
    assert world.drive().status is RungStatus.WAITING
    node.begin(second, claim)
    node.end(second, claim, CommandStatus.FAILED, Result(at=START, reason="it does not end"))
    assert world.drive().reason == "restart_process failed: it does not end"


@pytest.mark.parametrize("pid", [True, 0, 1, 2**40, "4711", None])
def test_what_is_no_pid_ends_nobody(pid: Scalar | None) -> None:
    attributes: dict[str, Scalar] = {} if pid is None else {"pid": pid}
    report = World(note("node").model_copy(update={"attributes": attributes}), act=restart_process).drive()
    assert (report.status, "no process is ended" in report.reason) == (RungStatus.FAILED, True)


def test_the_service_at_fault_is_restarted() -> None:
    world = World(note("node", kind=Kind.FABRIC_MANAGER_ERROR), act=restart_service)
    world.drive()
    assert world.issued[0].command.params == {"service": "nvidia-fabricmanager"}
    assert "none of the findings" in World(note(), act=restart_service).drive().reason
