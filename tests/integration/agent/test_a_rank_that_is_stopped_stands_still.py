"""A real process that beats, is stopped by SIGSTOP, and goes on by SIGCONT: one fault, and its end."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from agent.job.rhythm import Bounds
from agent.job.stalled import StalledPoll
from agent.job.table import ProcessTable
from agent.main import utc_now
from agent.polls.reading import Instant
from tests.tools.polling import LATE, Bench, bench
from tests.tools.sources import eventually

PROC = Path("/proc")
# What the training side does at each step, in ten lines: no bound is tighter than a busy machine's pauses.
RANK = """if True:
    import os, struct, sys, time
    data = bytearray(4096)
    header = b'{"pid": %d, "pid_namespace": %d, "rank": 3}' % (os.getpid(), os.stat("/proc/self/ns/pid").st_ino)
    data[512:512 + len(header)] = header
    step = 0
    while True:
        step += 1
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        struct.pack_into("<8sI4xQQqI", data, 0, b"RLBEAT01", len(header), step, now, step, 3)
        with open(sys.argv[1], "r+b" if step > 1 else "wb") as file:
            file.write(data)
        time.sleep(0.02)
"""


def since_boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def look(work: Bench, poll: StalledPoll) -> list[dict[str, Any]]:
    return work.poll(poll, since_boot() - LATE)


def test_a_rank_that_is_stopped_stands_still_until_it_goes_on(tmp_path: Path) -> None:
    poll = StalledPoll(ProcessTable(tmp_path, PROC, since_boot), PROC, Bounds(hang_after=3, slow_phase=60))
    with subprocess.Popen([sys.executable, "-c", RANK, str(tmp_path / "rank3.beat")]) as rank, bench() as work:
        try:
            told: list[dict[str, Any]] = []

            def learned() -> bool:
                told.extend(look(work, poll))
                rhythms = work.work.memory["rhythms"].get("rank3.beat", {})
                return bool(rhythms.get("seen", {}).get("3", 0) > 10)

            eventually(learned)
            assert told == []
            rank.send_signal(signal.SIGSTOP)

            def seen() -> bool:
                told.extend(look(work, poll))
                return bool(told)

            eventually(seen)
            (event,) = told
            assert event["kind"] == "training.stalled"
            assert event["component"] == {"type": "process", "index": rank.pid}
            assert (event["attributes"]["state"], event["attributes"]["rank"]) == ("T", 3)
            rank.send_signal(signal.SIGCONT)

            def goes_on() -> bool:
                return not poll.measure(work.work.memory, Instant(utc_now(), since_boot()))

            eventually(goes_on)
        finally:
            rank.kill()
