import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.job.ends import FOLLOWS_SECONDS
from agent.job.exit_listener import Ended, ListeningError, parse_ended
from agent.job.exits import ExitPoll, Exits
from agent.job.table import ProcessTable
from tests.tools.beats import beat, process
from tests.tools.polling import LATE, Bench, bench

KILLED, TERMED, ABORTED, SEGV = signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV | 0x80


class Heard:
    """Ends as the kernel would tell them."""

    def __init__(self) -> None:
        self.ends: list[Ended] = []

    def drain(self) -> list[Ended]:
        told, self.ends = self.ends, []
        return told


class World:
    """A made-up node with ranks that beat."""

    def __init__(self, folder: Path, work: Bench) -> None:
        self.beats, self.proc, self.work, self.second, self.order = folder / "beats", folder / "proc", work, 0.0, 0
        self.heard: Heard | None = Heard()
        self.restart()
        process(self.proc, 1)

    def restart(self) -> None:
        table = ProcessTable(self.beats, self.proc, lambda: LATE + self.second)
        self.poll = ExitPoll(table, self.proc, self.listen)

    def listen(self) -> Exits:
        if self.heard is None:
            raise ListeningError("not permitted")
        return self.heard

    def rank(self, pid: int, phase: int = 3, started: float = 0.5) -> None:
        process(self.proc, pid, started=started)
        at = max(LATE, started + 1)
        beat(self.beats, str(pid), pid=pid, rank=pid - 10, step=41, at=at, phase=phase, job="j", beats=9)

    def end(self, pid: int, status: int | None) -> None:
        self.order += 1
        for file in ("stat", "status"):
            (self.proc / str(pid) / file).unlink()
        if self.heard and status is not None:
            self.heard.ends.append(Ended(pid, status, self.order))

    def goodbye(self, pid: int) -> None:
        (self.beats / f"{pid}.beat").unlink()

    def look(self, seconds: float = 2.0) -> list[dict[str, Any]]:
        self.second += seconds
        return self.work.poll(self.poll, self.second)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with bench() as work:
        yield World(tmp_path, work)


def test_one_that_leaves_with_a_code_is_told_with_it(world: World) -> None:
    world.rank(10)
    assert world.look() == []
    world.end(10, 7 << 8)
    (event,) = world.look()
    assert (event["kind"], event["severity"]) == ("process.exited", "error")
    assert event["component"] == {"type": "process", "index": 10}
    assert event["attributes"] == {
        "pid": 10,
        "process": "python",
        "rank": 0,
        "step": 41,
        "exit_code": 7,
        "phase": "train",
    }
    assert world.look() == []


def test_one_that_was_killed_is_told_with_the_signal(world: World) -> None:
    world.rank(10)
    world.look()
    world.end(10, SEGV)
    (event,) = world.look()
    assert event["attributes"]["signal"] == "SIGSEGV"
    assert "exit_code" not in event["attributes"]
    assert event["message"] == "rank 0 (python) was ended by SIGSEGV"


def test_a_run_that_ends_well_is_no_fault(world: World) -> None:
    for pid in (10, 11):
        world.rank(pid)
    world.look()
    for pid in (10, 11):
        world.goodbye(pid)
        world.end(pid, 0)
    assert world.look() == []


def test_the_first_to_die_is_named_and_those_that_follow_are_symptoms(world: World) -> None:
    for pid in (10, 11, 12, 13):
        world.rank(pid)
    world.look()
    world.end(10, TERMED)
    world.end(12, KILLED)
    world.end(11, 143 << 8)
    told = world.look()
    world.end(13, ABORTED)
    told += world.look(60)
    found = {event["attributes"]["rank"]: event for event in told}
    assert found[2]["severity"] == "error"
    assert "symptom" not in found[2]["attributes"]
    for rank in (0, 1, 3):
        attributes = found[rank]["attributes"]
        assert (attributes["symptom"], attributes["first_pid"], attributes["first_rank"]) == (True, 12, 2)
        assert found[rank]["severity"] == "warning"
    assert found[3]["message"].endswith("after rank 2")


def test_who_died_first_is_whom_the_kernel_told_first(world: World) -> None:
    for pid in (10, 11):
        world.rank(pid)
    world.look()
    world.end(11, 1 << 8)
    world.end(10, 1 << 8)
    assert [event["attributes"]["rank"] for event in world.look() if "symptom" not in event["attributes"]] == [1]


def test_a_later_crash_of_the_same_job_is_one_of_its_own(world: World) -> None:
    for pid in (10, 11):
        world.rank(pid)
    world.look()
    world.end(10, 1 << 8)
    world.look()
    world.end(11, 1 << 8)
    (event,) = world.look(FOLLOWS_SECONDS + 1)
    assert "symptom" not in event["attributes"]


def test_a_crash_soon_after_the_run_was_started_again_is_one_of_its_own_and_has_its_own_symptoms(world: World) -> None:
    for pid in (10, 11):
        world.rank(pid)
    world.look()
    world.end(10, 1 << 8)
    world.end(11, 1 << 8)
    world.look()
    for pid in (20, 21):
        world.rank(pid, started=LATE + world.second + 30)
    world.look(60)
    world.end(21, 1 << 8)
    world.end(20, 1 << 8)
    again, follows = world.look(60)
    assert (again["attributes"]["pid"], again["severity"]) == (21, "error")
    assert "symptom" not in again["attributes"]
    assert (follows["attributes"]["symptom"], follows["attributes"]["first_pid"]) == (True, 21)


def test_sigterm_alone_is_somebodys_wish_and_nobody_is_the_first(world: World) -> None:
    for pid in (10, 11):
        world.rank(pid)
    world.look()
    for pid in (10, 11):
        world.end(pid, TERMED)
    events = world.look()
    assert [event["severity"] for event in events] == ["warning", "warning"]
    assert all(event["attributes"]["symptom"] and "first_pid" not in event["attributes"] for event in events)


def test_where_nobody_may_listen_an_end_without_a_word_has_no_code(world: World) -> None:
    world.heard = None
    for pid in (10, 11, 12):
        world.rank(pid)
    world.look()
    world.goodbye(11)
    world.rank(12, phase=7)
    assert world.look() == []
    for pid in (10, 11, 12):
        world.end(pid, None)
    (event,) = world.look()
    assert event["severity"] == "warning"
    assert event["attributes"]["rank"] == 0
    assert "exit_code" not in event["attributes"]
    assert "without a word" in event["message"]


def test_a_zombie_tells_its_code_itself(world: World) -> None:
    world.heard = None
    world.rank(10)
    world.look()
    stat = world.proc / "10" / "stat"
    words = stat.read_text().split()
    stat.write_text(" ".join([*words[:2], "Z", *words[3:51], str(3 << 8)]))
    (event,) = world.look()
    assert event["attributes"]["exit_code"] == 3


def test_a_crash_when_all_was_done_is_a_warning(world: World) -> None:
    world.rank(10)
    world.look()
    world.goodbye(10)
    world.look()
    world.end(10, SEGV)
    (event,) = world.look()
    assert event["severity"] == "warning"


def test_who_holds_a_gpu_without_a_rank_or_a_job_is_not_watched(world: World) -> None:
    (world.proc / "driver/nvidia").mkdir(parents=True)
    process(world.proc, 20, name="nvidia-smi", files=("/dev/nvidia0",), environ="RANK=3")
    process(world.proc, 21, name="notebook", files=("/dev/nvidia0",))
    process(world.proc, 22, files=("/dev/nvidia0",), environ="RANK=3")
    world.look()
    for pid in (20, 21, 22):
        world.end(pid, KILLED)
    assert [event["attributes"]["pid"] for event in world.look()] == [22]


def test_a_pid_that_was_given_anew_hides_no_end(world: World) -> None:
    world.rank(10)
    world.look()
    world.end(10, KILLED)
    process(world.proc, 10, started=LATE + 1)
    beat(world.beats, "other", pid=10, rank=5, at=LATE + 2, job="j", beats=1, started_at="later")
    (event,) = world.look()
    assert event["attributes"]["rank"] == 0
    world.end(10, 1 << 8)
    assert [event["attributes"]["rank"] for event in world.look()] == [5]


def test_who_died_while_the_agent_was_away_is_told_if_it_left_its_beat(world: World) -> None:
    for pid in (10, 11, 12):
        world.rank(pid)
    world.look()
    world.look(20)
    world.end(10, None)
    world.goodbye(11)
    world.end(11, None)
    world.work.restart()
    world.restart()
    assert [event["attributes"]["rank"] for event in world.look(20)] == [0]
    assert world.look() == []


def test_what_the_kernel_tells_beside_ends_is_left_out() -> None:
    def message(what: int, pid: int, tgid: int) -> bytes:
        return bytes(36) + struct.pack("=IIQ", what, 0, 5) + struct.pack("=IIII", pid, tgid, 7 << 8, 17) + bytes(8)

    assert parse_ended(message(0x80000000, 8, 8)) == Ended(8, 7 << 8, 5)
    assert parse_ended(message(0x80000000, 9, 8)) is None  # a thread
    assert parse_ended(message(1, 8, 8)) is None  # a fork
    assert parse_ended(b"short") is None
