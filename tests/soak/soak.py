"""The soak: a real agent on an hour of a node's logs, through kills, cuts and rotation; then the books must balance.

The first half kills the agent and cuts its network, the second leaves it running, so that its memory can be read.
"""

import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.kinesis import Stream
from tests.soak.node import VIRTUAL_SECONDS, Key, NodeLogs, key_of

ROOT = Path(__file__).parents[2]
JOURNALCTL = ROOT / "tests" / "tools" / "journalctl.py"
_TURN = 0.25  # seconds between two portions of log
_PATIENCE = 60.0
_STORMS, _STORM_LINES = 8, 20_000


@dataclass
class Books:
    """What was written, what arrived, and what the agent took."""

    written: Counter[Key]
    lines: int
    arrived: Counter[Key] = field(default_factory=Counter)
    ids: Counter[str] = field(default_factory=Counter)
    events: int = 0
    envelopes: int = 0
    kills: int = 0
    cuts: int = 0
    rotations: int = 0
    contradictions: list[str] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)  # MiB, of the last life of the agent
    said: str = ""

    def lost(self) -> Counter[Key]:
        return self.written - self.arrived

    def repeated(self) -> Counter[Key]:
        return self.arrived - self.written

    def growth(self) -> float:
        """How many MiB more the last third of the samples shows than the one before."""
        third = len(self.resident) // 3
        return statistics.median(self.resident[-third:]) - statistics.median(self.resident[third : 2 * third])


class Soak:
    """One run."""

    def __init__(
        self, folder: Path, seconds: float, seed: int = 7, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        self._folder = folder
        self._seconds = seconds
        self._chance = random.Random(seed)
        self._tell = tell
        self._logs = NodeLogs(folder, seed)
        self._stream = Stream()
        self._books = Books(self._logs.written, 0)
        self._agent: subprocess.Popen[bytes] | None = None
        (folder / "bin").mkdir()
        (folder / "bin" / "journalctl").symlink_to(JOURNALCTL)

    def run(self) -> Books:
        """Write, break, mend, and close the books."""
        try:
            self._start()
            self._wait_until_it_looks()
            began = time.monotonic()
            while (passed := time.monotonic() - began) < self._seconds:
                self._turn(passed / self._seconds)
                time.sleep(_TURN)
            self._finish()
        finally:
            self._kill()
            self._stream.close()
        return self._close()

    def _turn(self, share: float) -> None:
        """One portion of everything; *share* of the run is over."""
        self._logs.live(VIRTUAL_SECONDS * _TURN / self._seconds)
        turns = self._seconds / _TURN
        if self._chance.random() < _STORMS / turns:
            self._logs.storm(_STORM_LINES)
        if self._chance.random() < 12 / turns:
            self._logs.rotate()
            self._books.rotations += 1
        rough = share < 0.5
        weather = self._chance.random()
        self._stream.cut = rough and (weather < 0.15 or (self._stream.cut and weather < 0.8))
        self._stream.deaf = rough and not self._stream.cut and 0.15 <= weather < 0.2
        self._books.cuts += self._stream.cut or self._stream.deaf
        if rough and self._chance.random() < 16 / turns:
            self._kill()
            self._books.kills += 1
        if self._agent is None and self._chance.random() < 0.5:
            self._start()
        if not rough and self._agent is not None:
            self._books.resident.append(resident(self._agent.pid))
            if len(self._books.resident) % 40 == 0:
                self._tell(f"{share:.0%} {self._logs.lines} lines, {self._books.resident[-1]:.1f} MiB")

    def _start(self) -> None:
        values = {
            "CLUSTER": "soak",
            "STREAM": "faults",
            "INSTANCE_ID": "i-0123",
            "NODE_NAME": "node-1",
            "KERNEL_LOG": self._logs.kernel,
            "TRAINING_LOGS": self._folder / "ranks" / "*.log*",
            "JOURNAL_UNITS": "containerd.service",
            "HOST_CHECKS": "false",
            "SERVICE_LOGS": "",
            "STATUS_SOCKET": "",
            "EVIDENCE_PER_HOUR": 0,
            "SPOOL_DIR": self._folder / "spool",
        }
        environ = os.environ | {f"RELIGHT_AGENT_{name}": str(value) for name, value in values.items()}
        environ |= {"AWS_ENDPOINT_URL": self._stream.endpoint, "AWS_REGION": "us-east-1"}
        environ |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
        environ |= {"PATH": f"{self._folder / 'bin'}:{os.environ['PATH']}", "JOURNAL_FILE": str(self._logs.journal)}
        with (self._folder / "agent.err").open("ab") as errors:
            command = [sys.executable, "-m", "agent.main"]
            self._agent = subprocess.Popen(command, cwd=ROOT, env=environ, stderr=errors)

    def _wait_until_it_looks(self) -> None:
        """What stands in a log before an agent looks for the first time is old news, or another's business."""
        deadline = time.monotonic() + _PATIENCE
        while not self._stream.envelopes and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)

    def _kill(self) -> None:
        if self._agent is not None:
            self._agent.kill()
            self._agent.wait(10)
            self._agent = None

    def _finish(self) -> None:
        """Fair weather, until everything written has arrived or nothing more does; then stop the agent."""
        self._stream.cut = self._stream.deaf = False
        if self._agent is None:
            self._start()
        deadline = time.monotonic() + _PATIENCE
        seen, seen_at = -1, time.monotonic()
        while time.monotonic() < deadline and time.monotonic() - seen_at < 15:
            arrived = sum(event.count for event in self._stream.events())
            if arrived != seen:
                seen, seen_at = arrived, time.monotonic()
            if arrived >= sum(self._logs.written.values()):
                break
            time.sleep(0.5)
        assert self._agent is not None
        self._agent.send_signal(signal.SIGTERM)
        assert self._agent.wait(20) == 0
        self._agent = None

    def _close(self) -> Books:
        books, events = self._books, self._stream.events()
        for event in events:
            books.arrived[key_of(event)] += event.count
            books.ids[event.id] += 1
        books.events, books.envelopes, books.lines = len(events), self._stream.envelopes, self._logs.lines
        books.contradictions = self._stream.contradictions
        books.said = (self._folder / "agent.err").read_text()
        return books


def resident(pid: int) -> float:
    """MiB that the process and its children hold."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    pids = [pid, *(int(child) for path in children for child in path.read_text().split())]
    return sum(_resident(one) for one in pids)


def _resident(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
