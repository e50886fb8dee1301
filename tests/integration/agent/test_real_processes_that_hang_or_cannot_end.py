"""Real processes that hold a GPU's device file (a plain file here): stopped, in the kernel, over but for a thread."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent.job.hung import HELD_AFTER_SECONDS, HungPoll
from agent.job.rhythm import Bounds
from agent.job.table import ProcessTable
from agent.polls.reading import Holds, Instant
from tests.tools.agent_events import START

HOLDER = """if True:
    import os, sys, threading, time
    held = open(sys.argv[1])
    print("ready", flush=True)
    if sys.argv[2] == "leave a thread":
        sys.stdin.readline()
        threading.Thread(target=time.sleep, args=(600,)).start()
        import ctypes
        ctypes.CDLL(None).pthread_exit(None)
    if sys.argv[2] == "wait in the kernel":  # for a child that shares its memory, which waits for a pipe's other end
        actions = [(os.POSIX_SPAWN_OPEN, 5, sys.argv[3], os.O_RDONLY, 0)]
        os.posix_spawn("/bin/true", ["true"], {}, file_actions=actions)
    time.sleep(600)
"""
Eventually = Callable[[Callable[[], bool]], None]


@dataclass(frozen=True)
class Watch:
    """A poll and what it remembers."""

    poll: HungPoll
    memory: dict[str, Any] = field(default_factory=dict)


class Node:
    """The real /proc, seen through a folder that also says that a driver is there."""

    def __init__(self, folder: Path) -> None:
        self.device = folder / "dev"
        self.device.mkdir()
        (self.device / "nvidia3").touch()
        self.proc = Proc(folder / "proc")

    def holder(self, how: str, *more: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", HOLDER, str(self.device / "nvidia3"), how, *more]
        environ = {"RANK": "5", "SLURM_JOB_ID": "12"}
        one = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
        self.proc.show(one.pid)
        return one

    def watch(self) -> Watch:
        def since_boot() -> float:
            return time.clock_gettime(time.CLOCK_BOOTTIME)

        table = ProcessTable(self.device / "beats", self.proc.folder, since_boot, device=str(self.device / "nvidia"))
        return Watch(HungPoll(table, self.proc.folder, Bounds(hang_after=1, slow_phase=600)))


class Proc:
    """Links into the real /proc, of the test's own processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "driver/nvidia").mkdir(parents=True)

    def show(self, pid: int) -> None:
        (self.folder / str(pid)).symlink_to(f"/proc/{pid}")


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def held_of(watch: Watch) -> list[Holds]:
    now = Instant(START, time.clock_gettime(time.CLOCK_BOOTTIME))
    return [one for one in watch.poll.measure(watch.memory, now) if isinstance(one, Holds)]


def told(watch: Watch, eventually: Eventually) -> Holds:
    found: list[Holds] = []

    def seen() -> bool:
        found[:] = held_of(watch)
        return bool(found)

    eventually(seen)
    return found[0]


def attributes_of(one: Holds) -> dict[str, Any]:
    return dict(one.sighting.attributes)


def test_a_holder_that_is_stopped_hangs_and_goes_on(node: Node, eventually: Eventually) -> None:
    one, watch = node.holder("stay"), node.watch()
    try:
        assert held_of(watch) == []
        one.send_signal(signal.SIGSTOP)
        hung = told(watch, eventually)
        assert hung.sighting.kind == "process.hung"
        attributes = attributes_of(hung)
        assert (attributes["pid"], attributes["rank"], attributes["state"], attributes["gpus"]) == (
            one.pid,
            5,
            "T",
            "3",
        )
        one.send_signal(signal.SIGCONT)
        eventually(lambda: held_of(watch) == [])
    finally:
        one.kill()
        one.communicate()


def test_a_holder_that_waits_in_the_kernel_hangs(node: Node, tmp_path: Path, eventually: Eventually) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    one, watch = node.holder("wait in the kernel", str(pipe)), node.watch()
    try:
        hung = told(watch, eventually)
        attributes = attributes_of(hung)
        assert (hung.sighting.kind, attributes["state"], attributes["pid"]) == ("process.hung", "D", one.pid)
        os.close(os.open(pipe, os.O_RDWR))  # the child goes on, and so does its parent
        eventually(lambda: held_of(watch) == [])
    finally:
        os.close(os.open(pipe, os.O_RDWR))
        one.kill()
        one.communicate()


def test_a_process_that_is_over_but_for_one_thread_keeps_its_gpu(node: Node, eventually: Eventually) -> None:
    one, watch = node.holder("leave a thread"), node.watch()
    try:
        assert held_of(watch) == []  # what it holds cannot be read any more once its first thread is over
        assert one.stdin
        one.stdin.write("leave\n")
        one.stdin.flush()
        held = told(watch, eventually)
        assert (held.sighting.kind, held.after) == ("gpu.held", HELD_AFTER_SECONDS)
        attributes = attributes_of(held)
        assert (attributes["state"], attributes["threads"], attributes["gpus"]) == ("Z", 1, "3")
    finally:
        one.kill()
        one.communicate()


def test_a_zombie_that_nobody_waits_for_holds_nothing(node: Node, eventually: Eventually) -> None:
    one, watch = node.holder("stay"), node.watch()
    assert held_of(watch) == []
    try:
        one.kill()
        stat = Path(f"/proc/{one.pid}/stat")
        eventually(lambda: ") Z " in stat.read_text())
        assert held_of(watch) == []
    finally:
        one.communicate()
