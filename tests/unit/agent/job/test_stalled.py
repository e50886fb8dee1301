import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.job.rhythm import Bounds
from agent.job.stalled import StalledPoll
from agent.job.table import ProcessTable
from tests.tools.beats import beat, process
from tests.tools.polling import LATE, Bench, bench

BOUNDS = Bounds(hang_after=60, slow_phase=1800)


class Node:
    """A made-up node whose clock goes when told."""

    def __init__(self, folder: Path, work: Bench) -> None:
        self.folder, self.work, self.second, self.beats = folder, work, 0.0, {7: 0}
        self.poll = StalledPoll(
            ProcessTable(folder / "beats", folder / "proc", lambda: LATE + self.second), folder / "proc", BOUNDS
        )
        process(folder / "proc", 1)

    def beat(self, pid: int = 7, step: int = 5, phase: int = 3, **more: Any) -> None:  # noqa: ANN401
        self.beats[pid] = self.beats.get(pid, 0) + 1
        beat(
            self.folder / "beats",
            str(pid),
            pid=pid,
            beats=self.beats[pid],
            at=LATE + self.second,
            step=step,
            phase=phase,
            **{"job": "j", "rank": pid - 7, **more},
        )

    def process(self, pid: int = 7, **more: Any) -> None:  # noqa: ANN401
        process(self.folder / "proc", pid, **more)

    def look(self, seconds: float = 2.0) -> list[dict[str, Any]]:
        self.second += seconds
        return self.work.poll(self.poll, self.second)

    def look_for(self, seconds: float) -> list[dict[str, Any]]:
        return [event for _ in range(int(seconds / 2)) for event in self.look()]

    def train(self, steps: int = 20, pids: tuple[int, ...] = (7,)) -> list[dict[str, Any]]:
        told = []
        for step in range(steps):
            for pid in pids:
                self.beat(pid, step)
            told += self.look()
        return told


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with bench() as work:
        node = Node(tmp_path, work)
        node.process()
        yield node


def test_training_that_goes_on_is_no_fault(node: Node) -> None:
    assert node.train(200) == []


def test_a_process_that_stops_beating_is_told_once_with_what_it_does(node: Node) -> None:
    node.train()
    (event,) = node.look_for(200)
    assert (event["kind"], event["severity"]) == ("training.stalled", "error")
    assert event["component"] == {"type": "process", "index": 7}
    attributes = event["attributes"]
    assert (attributes["rank"], attributes["step"], attributes["phase"], attributes["state"]) == (0, 19, "train", "R")
    assert attributes["learned_step_seconds"] == 2.0
    assert attributes["allowed_seconds"] == 60.0
    assert 60 < attributes["stalled_seconds"] < 75


def test_it_is_over_when_the_step_goes_on(node: Node) -> None:
    node.train()
    (onset,) = node.look_for(100)
    (over,) = node.train(30)
    assert (over["kind"], over["attributes"]["of"]) == ("condition.cleared", "training.stalled")
    assert over["attributes"]["occurrence"] == onset["id"]


@pytest.mark.parametrize("phase", [1, 2, 4, 5, 6])
def test_a_slow_phase_has_a_bound_of_its_own(node: Node, phase: int) -> None:
    node.train()
    node.beat(step=20, phase=phase)
    assert node.look_for(1790) == []
    (event,) = node.look_for(60)
    assert event["attributes"]["phase"] == ("starting", "compile", "", "save", "evaluate", "load")[phase - 1]


def test_the_first_steps_may_take_as_long_as_a_compilation(node: Node) -> None:
    node.beat(step=0)
    assert node.look_for(1700) == []


def test_long_steps_have_a_longer_bound(node: Node) -> None:
    for step in range(10):
        node.beat(step=step)
        node.look(30)
    assert node.look_for(290) == []
    assert [event["kind"] for event in node.look_for(60)] == ["training.stalled"]


def test_a_pause_that_it_came_back_from_is_not_taken_for_a_hang_again(node: Node) -> None:
    node.train()
    assert len(node.look_for(100)) == 1
    node.train(30)
    assert node.look_for(150) == []


def test_a_process_that_is_gone_ended_or_was_replaced_is_no_hang(node: Node) -> None:
    node.train(20, (7, 8, 9))
    node.beat(8, phase=7)
    node.process(8)
    node.process(9, started=LATE + node.second + 30)  # the pid was given anew
    (node.folder / "proc" / "7" / "stat").unlink()
    assert node.look_for(300) == []


@pytest.mark.parametrize("end", [{"killed": True}, {"flags": 0x404}, {"state": "Z"}])
def test_one_that_is_ending_is_no_hang(node: Node, end: dict[str, Any]) -> None:
    node.train()
    node.process(**{"state": "D", **end})
    assert node.look_for(300) == []


def test_a_stopped_process_stands_still_in_any_phase_and_the_others_wait_for_it(node: Node) -> None:
    node.process(8)
    node.train(20, (7, 8))
    node.beat(8, phase=4)
    node.process(8, state="T")
    events = node.look_for(120)
    assert {event["component"]["index"]: event["attributes"].get("symptom") for event in events} == {7: True, 8: None}
    assert "stopped" in next(event["message"] for event in events if event["component"]["index"] == 8)


def test_those_that_wait_for_one_that_died_here_are_symptoms(node: Node) -> None:
    node.process(8)
    node.train(20, (7, 8))
    (node.folder / "proc" / "8" / "stat").unlink()
    (event,) = node.look_for(120)
    assert (event["component"]["index"], event["attributes"]["symptom"]) == (7, True)


def test_a_core_that_is_burnt_in_a_wait_proves_no_life(node: Node) -> None:
    node.train()
    told = []
    for second in range(60):
        node.process(cpu=2.0 * second)
        told += node.look()
    (event,) = told
    assert event["attributes"]["cpu_busy"] is True


def test_what_was_learned_outlives_the_agent(node: Node) -> None:
    node.train()
    node.look(16)  # longer than memory is kept back from the spool
    node.work.restart()
    (event,) = node.look_for(100)
    assert event["attributes"]["learned_step_seconds"] == 2.0


def test_a_file_of_another_user_speaks_for_nobody(node: Node) -> None:
    node.process(uid=os.getuid() + 1)
    node.beat()
    if os.getuid() == 0:  # a file of root speaks for anybody
        os.chown(node.folder / "beats" / "7.beat", 4242, 4242)
    assert node.train() == []
    assert node.look_for(300) == []
