"""Real processes that beat and die, heard through the real proc connector, which needs root."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.job.exit_listener import Ended, ExitListener, ListeningError
from agent.job.exits import ExitPoll
from agent.job.table import ProcessTable
from agent.proc import pid_namespace
from tests.tools.beats import beat
from tests.tools.polling import LATE, bench
from tests.tools.sources import eventually

PROC = Path("/proc")


@pytest.fixture
def listener() -> Iterator[ExitListener]:
    try:
        listener = ExitListener()
    except ListeningError as error:
        pytest.skip(str(error))
    yield listener
    listener.close()


def ends_of(listener: ExitListener, pids: set[int]) -> dict[int, Ended]:
    found: dict[int, Ended] = {}

    def all_heard() -> bool:
        found.update({one.pid: one for one in listener.drain() if one.pid in pids})
        return found.keys() == pids

    eventually(all_heard)
    return found


def test_codes_and_signals_are_heard_in_their_order(listener: ExitListener) -> None:
    left = subprocess.Popen([sys.executable, "-c", "import sys; sys.exit(7)"])
    left.wait()
    killed = subprocess.Popen(["sleep", "600"])
    killed.kill()
    killed.wait()
    found = ends_of(listener, {left.pid, killed.pid})
    assert (found[left.pid].status, found[killed.pid].status) == (7 << 8, signal.SIGKILL)
    assert found[left.pid].at < found[killed.pid].at


def test_threads_that_end_are_not_told(listener: ExitListener) -> None:
    for _ in range(50):
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    last = subprocess.Popen(["true"])
    last.wait()
    heard: list[Ended] = []

    def last_heard() -> bool:
        heard.extend(listener.drain())
        return last.pid in {one.pid for one in heard}

    eventually(last_heard)
    assert os.getpid() not in {one.pid for one in heard}


def test_a_rank_that_is_killed_is_told_with_its_signal_and_its_sibling_is_a_symptom(
    listener: ExitListener, tmp_path: Path
) -> None:
    def now() -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    ranks = [subprocess.Popen(["sleep", "600"]) for _ in range(2)]
    poll = ExitPoll(ProcessTable(tmp_path, PROC, now), PROC, lambda: listener)
    told: list[dict[str, Any]] = []
    try:
        with bench() as work:
            for number, rank in enumerate(ranks):
                namespace = pid_namespace(PROC, "self")
                beat(tmp_path, str(number), pid=rank.pid, rank=number, at=now(), job="j", pid_namespace=namespace)
            assert work.poll(poll, now() - LATE) == []
            assert len(work.work.memory["watched"]) == 2
            ranks[1].kill()
            ranks[1].wait()
            ranks[0].terminate()
            ranks[0].wait()

            def both() -> bool:
                told.extend(work.poll(poll, now() - LATE))
                return len(told) == 2

            eventually(both)
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    found = {event["attributes"]["rank"]: event["attributes"] for event in told}
    assert found[1]["signal"] == "SIGKILL"
    assert "symptom" not in found[1]
    assert (found[0]["signal"], found[0]["symptom"], found[0]["first_rank"]) == ("SIGTERM", True, 1)


def test_an_answer_that_is_looked_for_late_is_heard_all_the_same(
    listener: ExitListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.job.exit_listener._ACK_SECONDS", -10.0)  # the node stood still right after it asked
    again = ExitListener()
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert ends_of(again, {ended.pid})[ended.pid].status == 0
    again.close()
