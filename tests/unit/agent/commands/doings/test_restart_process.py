"""Ending training processes: real ones, that go, that stay, that are gone, that are somebody else."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.commands.doing import Errand
from agent.commands.doings.restart_process import RestartsProcess, Training
from agent.polls.source import since_boot
from agent.proc import read_stat
from policies.contract.commands.operations import RestartProcess
from tests.tools.process_tree import ProcessTree
from tests.tools.sources import eventually

PROC = Path("/proc")
GPU = "0000:4b:00"
MakeErrand = Callable[..., Errand]
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
WILLING = "import time; print('up', flush=True); time.sleep(60)"


def now() -> datetime:
    return datetime.now(UTC)


class Node:
    """A node on which some real processes train."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self.training: list[Training] = []
        self.doing = RestartsProcess(PROC, lambda: self.training, now, since_boot)

    def start(self, script: str, *, trains: bool = True) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        self.processes.append(process)
        assert process.stdout
        assert process.stdout.readline() == b"up\n"
        stat = read_stat(PROC, process.pid)
        assert stat
        if trains:
            self.training.append(Training(stat.pid, stat.name, stat.started))
        return process

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
            assert process.stdout
            process.stdout.close()


@pytest.fixture
def node() -> Iterator[Node]:
    made = Node()
    yield made
    made.end()


def test_a_willing_process_ends_by_sigterm(node: Node, errand: MakeErrand) -> None:
    process = node.start(WILLING)
    params = RestartProcess(pid=process.pid, started_before=now())
    assert node.doing.why_not(params) == ""
    outcome = node.doing.run(params, errand())
    assert (outcome.ok, outcome.facts) == (True, {"ended": 1, "killed": 0})
    assert process.wait() == -15


def test_a_stubborn_one_is_killed_after_its_grace(node: Node, errand: MakeErrand) -> None:
    process = node.start(STUBBORN)
    outcome = node.doing.run(RestartProcess(pid=process.pid, grace_seconds=0.2), errand())
    assert (outcome.ok, outcome.facts) == (True, {"ended": 1, "killed": 1})
    assert process.wait() == -9


def test_one_that_is_gone_already_needs_nothing(node: Node, errand: MakeErrand) -> None:
    process = node.start(WILLING)
    process.kill()
    process.wait()
    params = RestartProcess(pid=process.pid, started_before=now())
    assert node.doing.why_not(params) == ""
    assert node.doing.run(params, errand()).reason == "it is gone already"


def test_one_that_began_after_the_fault_is_another_process_and_lives(node: Node, errand: MakeErrand) -> None:
    process = node.start(WILLING)
    params = RestartProcess(pid=process.pid, started_before=now() - timedelta(minutes=5))
    assert node.doing.why_not(params) == ""
    assert node.doing.run(params, errand()).facts == {"ended": 0}
    assert process.poll() is None


def test_a_process_that_trains_nothing_is_refused(node: Node) -> None:
    process = node.start(WILLING, trains=False)
    why = node.doing.why_not(RestartProcess(pid=process.pid))
    assert why.endswith("neither holds a GPU nor beats: it is no training process")


def test_a_process_of_another_name_is_refused(node: Node) -> None:
    process = node.start(WILLING)
    assert "not nccl-tests" in node.doing.why_not(RestartProcess(pid=process.pid, name="nccl-tests"))


def test_after_a_crash_it_worked_if_the_process_is_gone(node: Node, errand: MakeErrand) -> None:
    process = node.start(WILLING)
    params = RestartProcess(pid=process.pid, started_before=now())
    outcome = node.doing.look_back(params, errand())
    assert (outcome.ok, outcome.reason.endswith("is still there")) == (False, True)
    assert node.doing.look_back(params, errand(rebooted=True)).ok
    process.kill()
    process.wait()
    eventually(lambda: node.doing.look_back(params, errand()).ok)


def test_whoever_holds_the_named_gpu_is_meant(tmp_path: Path) -> None:
    tree = ProcessTree(tmp_path / "proc", {GPU: 2, "0000:5d:00": 3})
    tree.add(100, "python3", "/dev/nvidia2")
    tree.add(101, "python3", "/dev/nvidia3")
    doing = RestartsProcess(tree.path, list, now, since_boot)
    assert [one.pid for one in doing._meant(RestartProcess(gpu=GPU))] == [100]
    assert [one.pid for one in doing._meant(RestartProcess(gpu=GPU, pid=101))] == [101]
    assert doing._meant(RestartProcess(gpu=GPU, name="nccl-tests")) == []


def test_where_the_numbers_of_processes_differ_from_the_nodes_nobody_is_ended(tmp_path: Path) -> None:
    tree = ProcessTree(tmp_path / "proc", {GPU: 2})
    tree.add(100, "python3", "/dev/nvidia2")
    own = tree.path / "self"
    own.symlink_to("4242")
    doing = RestartsProcess(tree.path, list, now, since_boot)
    assert "process numbers of its own" in doing.why_not(RestartProcess(pid=100))
    own.unlink()
    own.symlink_to(str(os.getpid()))
    assert doing.why_not(RestartProcess(pid=100)) == ""
