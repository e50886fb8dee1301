"""`relight node` with twins: one command, followed to its end by an agent that answers when it is looked at."""

import argparse
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from console.commands import node as command
from console.node.asking import read_params
from console.node.parts import NodeError, Parts
from console.node.twins import MemoryHands, MemoryNames, MemoryNodeCommands
from policies.contract.commands.command import Claim, CommandStatus, Result
from policies.contract.commands.operations import Operation, ResetGpu, RestartProcess, Taken
from policies.contract.errors import BadInputError
from tests.tools.commands import NODE, START

ARNS = NODE.removesuffix("i-0a")


class Desk:
    """A person, a table, and an agent that does at each pause what ``agent`` says."""

    def __init__(self, *takes: Operation, agent: Callable[["Desk"], None] = lambda _desk: None) -> None:
        self.now = START
        self.commands = MemoryNodeCommands()
        self.agent = agent
        if takes:
            self.commands.of(NODE).announce(Taken(operations=takes, boot_id="b", at=START))

    def run(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        names = MemoryNames({"ip-10-0-0-1.ec2.internal": "i-0a"})
        parts = Parts(self.commands, names, ARNS, self.clock, self.pause, MemoryHands(), ["west"])
        return command.perform(parser.parse_args(words), parts)

    def clock(self) -> datetime:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.agent(self)


def does(status: CommandStatus, **result: Any) -> Callable[[Desk], None]:  # noqa: ANN401 - fields of a result
    def agent(desk: Desk) -> None:
        table = desk.commands.of(NODE)
        for record in table.look().records:
            claim = Claim(by="spool", boot_id="b", at=desk.now)
            table.begin(record, claim)
            table.end(record, claim, status, Result(at=desk.now, **result))

    return agent


def test_a_command_is_followed_to_its_end_and_its_output_printed(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(Operation.COLLECT_EVIDENCE, agent=does(CommandStatus.DONE, output="12 parts", address="s3://e/m.json"))
    assert desk.run("run", "i-0a", "collect_evidence", "--by", "kim") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == ["done", "12 parts", "kept at s3://e/m.json"]
    assert "pending" in err
    (record,) = desk.commands.records.values()
    assert (record.command.by, record.command.incident) == ("kim", "")


def test_a_node_is_named_by_its_name_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(Operation.COLLECT_EVIDENCE, agent=does(CommandStatus.DONE))
    assert desk.run("run", "ip-10-0-0-1.ec2.internal", "collect_evidence") == 0
    with pytest.raises(NodeError, match="no running instance is called 'nobody'"):
        desk.run("run", "nobody", "collect_evidence")


def test_what_failed_is_told_and_is_exit_status_one(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(Operation.RESET_GPU, agent=does(CommandStatus.FAILED, reason="the GPU does not answer"))
    assert desk.run("run", "i-0a", "reset_gpu", "--param", "gpus=0000:4b:00", "--yes", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["status"], document["result"]["reason"]) == ("failed", "the GPU does not answer")
    assert document["params"] == {"gpus": ["0000:4b:00"]}


def test_what_nobody_begins_has_expired(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(Operation.COLLECT_EVIDENCE)
    assert desk.run("run", "i-0a", "collect_evidence") == 1
    assert capsys.readouterr().out == "expired\n"


def test_who_does_not_wait_is_told_how_to_look_again(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(Operation.COLLECT_EVIDENCE)
    assert desk.run("run", "i-0a", "collect_evidence", "--wait", "5") == 1
    assert "relight node commands i-0a" in capsys.readouterr().out


def test_what_takes_something_away_is_asked_about_first(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(Operation.RESET_GPU)
    assert desk.run("run", "i-0a", "reset_gpu") == 2
    assert "nobody is here to ask" in capsys.readouterr().err
    assert desk.commands.records == {}


def test_a_node_that_takes_nothing_or_not_this_is_not_asked() -> None:
    with pytest.raises(NodeError, match="takes no commands"):
        Desk().run("run", "i-0a", "collect_evidence")
    with pytest.raises(NodeError, match="does not take reset_gpu; it takes: collect_evidence"):
        Desk(Operation.COLLECT_EVIDENCE).run("run", "i-0a", "reset_gpu", "--yes")


def test_a_node_that_nobody_knows_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert Desk(*Operation).run("commands", "i-0nosuch") == 0
    told = capsys.readouterr().out
    assert told.startswith("Nothing was asked of it within a week.\n")
    assert "No agent of 'i-0nosuch' says that it takes commands. Is it written right" in told


def test_commands_are_listed_newest_first(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    desk = Desk(*Operation, agent=does(CommandStatus.DONE, reason="well"))
    assert desk.run("commands", "i-0a") == 0
    assert capsys.readouterr().out == "Nothing was asked of it within a week.\n"
    desk.run("run", "i-0a", "collect_evidence")
    desk.run("run", "i-0a", "burn_in", "--yes")
    capsys.readouterr()
    desk.run("commands", "i-0a", "--json")
    listed = json.loads(capsys.readouterr().out)["commands"]
    assert [one["operation"] for one in listed] == ["burn_in", "collect_evidence"]
    desk.run("commands", "i-0a")
    table = capsys.readouterr().out
    assert "burn_in" in table
    assert "well" in table


def test_parameters_are_read_from_words() -> None:
    both = read_params(Operation.RESET_GPU, ["gpus=0000:4b:00", "gpus=0000:5d:00"])
    assert both == ResetGpu(gpus=("0000:4b:00", "0000:5d:00"))
    assert read_params(Operation.RESTART_PROCESS, ["pid=4711"]) == RestartProcess(pid=4711)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["pid"], "is not NAME=VALUE"),
        (["pid=1", "pid=2"], "given twice"),
        (["pid=x"], "pid"),
        (["shell=reboot"], "shell"),
    ],
)
def test_what_is_no_parameter_says_so(words: list[str], why: str) -> None:
    with pytest.raises((NodeError, BadInputError), match=why):
        read_params(Operation.RESTART_PROCESS, words)


def test_the_operations_of_the_command_are_those_of_the_contract() -> None:
    assert set(command._OPERATIONS) == set(Operation)
