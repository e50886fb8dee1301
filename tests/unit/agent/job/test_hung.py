import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.job.hung import HungPoll
from agent.job.rhythm import Bounds
from agent.job.table import ProcessTable
from tests.tools.agent_events import memory_folder
from tests.tools.beats import beat, process
from tests.tools.polling import LATE, Bench, bench

RANK = "RANK=3 SLURM_JOB_ID=12"
GPU = ("/dev/nvidia2",)


class World:
    """A made-up node with a GPU."""

    def __init__(self, folder: Path, work: Bench) -> None:
        self.folder, self.proc, self.work, self.second = folder, folder / "proc", work, 0.0
        (self.proc / "driver/nvidia").mkdir(parents=True)
        self.begin()

    def begin(self) -> None:
        """Look with eyes that saw nothing yet, at what the spool says."""
        self.work.restart()
        table = ProcessTable(self.folder / "beats", self.proc, lambda: LATE + self.second)
        self.poll = HungPoll(table, self.proc, Bounds(hang_after=60, slow_phase=600))

    def process(self, **more: Any) -> None:  # noqa: ANN401
        process(self.proc, 10, **{"files": GPU, "environ": RANK, **more})

    def look_for(self, seconds: float, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        told = []
        for _ in range(int(seconds / 5)):
            self.second += 5
            if more:
                self.process(**more)
            told += self.work.poll(self.poll, self.second)
        return told


@pytest.fixture
def world() -> Iterator[World]:
    with memory_folder() as folder, bench() as work:
        world = World(Path(folder), work)
        world.process()
        yield world


def test_one_that_works_does_not_hang(world: World) -> None:
    told = []
    for second in range(400):
        told += world.look_for(5, cpu=float(second))
    assert told == []


def test_a_stopped_one_hangs_until_it_goes_on(world: World) -> None:
    world.look_for(10)
    (event,) = world.look_for(120, state="T")
    assert (event["kind"], event["severity"]) == ("process.hung", "error")
    attributes = event["attributes"]
    assert (attributes["pid"], attributes["rank"], attributes["state"], attributes["gpus"]) == (10, 3, "T", "2")
    (over,) = world.look_for(60, state="R")
    assert over["attributes"]["of"] == "process.hung"


def test_one_that_waits_in_the_kernel_hangs_only_if_it_does_nothing_else(world: World) -> None:
    busy = []
    for second in range(60):
        busy += world.look_for(5, state="D", cpu=float(second))
    assert busy == []
    (event,) = world.look_for(120, state="D", cpu=59.0)
    assert event["attributes"]["state"] == "D"
    assert event["message"].startswith("rank 3 (python) has waited in the kernel for")


def test_one_that_uses_no_cpu_for_long_hangs(world: World) -> None:
    assert world.look_for(590, state="S") == []
    (event,) = world.look_for(60, state="S")
    assert (event["kind"], event["severity"]) == ("process.hung", "warning")


def test_a_watchdog_s_ticks_are_no_work(world: World) -> None:
    told = []
    for second in range(160):
        told += world.look_for(5, state="S", cpu=second * 0.005)
    assert [event["kind"] for event in told] == ["process.hung"]


def test_its_children_s_work_is_its_own(world: World) -> None:
    task = world.proc / "10" / "task" / "10"
    task.mkdir(parents=True)
    (task / "children").write_text("11 ")
    told = []
    for second in range(200):
        process(world.proc, 11, cpu=float(second))
        told += world.look_for(5, state="S")
    assert told == []


def test_one_that_beats_is_watched_by_its_beat_alone(world: World) -> None:
    beat(world.folder / "beats", pid=10, at=LATE)
    assert world.look_for(300, state="T") == []


def test_a_notebook_that_idles_does_not_hang(world: World) -> None:
    assert world.look_for(1500, state="S", environ="") == []


def test_one_that_was_killed_and_is_not_gone_keeps_its_gpu(world: World) -> None:
    world.look_for(10)
    assert world.look_for(55, state="D", killed=True) == []
    (event,) = world.look_for(30, state="D", killed=True)
    assert (event["kind"], event["severity"]) == ("gpu.held", "error")
    assert (event["attributes"]["process"], event["attributes"]["state"], event["attributes"]["gpus"]) == (
        "python",
        "D",
        "2",
    )
    (world.proc / "10" / "stat").unlink()
    (over,) = world.look_for(60)
    assert over["attributes"]["of"] == "gpu.held"


def test_one_that_is_ending_and_does_not_get_on_keeps_its_gpu(world: World) -> None:
    world.look_for(10)
    (event,) = world.look_for(90, state="D", flags=0x404, files=())
    assert event["kind"] == "gpu.held"


def test_one_whose_first_thread_ended_and_another_cannot_keeps_its_gpu(world: World) -> None:
    world.look_for(10)
    (event,) = world.look_for(90, state="Z", flags=0x404, threads=("Z", "D"))
    assert (event["kind"], event["attributes"]["state"], event["attributes"]["threads"]) == ("gpu.held", "Z", 1)


@pytest.mark.parametrize(
    ("state", "more"),
    [("T", {}), ("D", {}), ("S", {}), ("D", {"killed": True}), ("D", {"flags": 0x404, "files": ()})],
    ids=["stopped", "in the kernel", "idle", "killed", "ending"],
)
def test_an_agent_that_begins_anew_neither_ends_nor_repeats_what_it_told(
    world: World, state: str, more: dict[str, Any]
) -> None:
    world.look_for(10)
    (onset,) = world.look_for(600 if state == "S" else 120, state=state, **more)
    world.begin()
    assert world.look_for(300, state=state, **more) == []
    (world.proc / "10" / "stat").unlink()
    (over,) = world.look_for(60)
    assert (over["attributes"]["of"], over["attributes"]["occurrence"]) == (onset["kind"], onset["id"])


def test_a_plain_zombie_holds_nothing(world: World) -> None:
    world.look_for(10)
    assert world.look_for(300, state="Z", flags=0x404, threads=("Z",)) == []


def test_one_that_beats_and_was_killed_keeps_its_gpu_too(world: World) -> None:
    beat(world.folder / "beats", pid=10, at=LATE)
    world.look_for(10)
    assert [event["kind"] for event in world.look_for(90, state="D", killed=True)] == ["gpu.held"]


@pytest.fixture
def in_memory() -> Iterator[Path]:
    with memory_folder() as folder:
        yield Path(folder)


def test_ten_thousand_processes_are_looked_at_a_few_at_a_time(in_memory: Path) -> None:
    proc = in_memory / "proc"
    (proc / "driver/nvidia").mkdir(parents=True)
    template = process(proc, 1, name="sleeper")
    for pid in range(2, 10_000):
        (proc / str(pid)).mkdir()
        os.link(template / "stat", proc / str(pid) / "stat")
    process(proc, 10_000, files=GPU, environ=RANK)
    second = 0.0
    table = ProcessTable(in_memory / "beats", proc, lambda: second)
    tracemalloc.start()
    try:
        assert {one.pid for one in table.now()} == {10_000}
        assert table._devices.remembered == 10_000
        before = os.times()
        for _ in range(10):
            second += 5
            table.now()
        after = os.times()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 << 20
    assert after.user + after.system - before.user - before.system < 20
