"""Starts, kills and ends the real agents, one process a node, through their preloaded parent."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

_STOP_SECONDS = 6.0
_KILLED_SECONDS = 30.0
_ROOT = Path(__file__).resolve().parents[2]


class AgentParentError(Exception):
    """The parent of the agents is gone; its log says why."""


class Agents:
    """A context manager. When it is left, or this process dies, every agent ends with it."""

    def __init__(self, log_dir: Path) -> None:
        log_dir.mkdir(parents=True, exist_ok=True)
        self._log = log_dir / "agent-parent.log"
        self._lock = threading.Lock()
        self._begun: list[int] = []
        with self._log.open("ab") as log:
            self._parent = subprocess.Popen(
                [sys.executable, "-m", "local.fleet.agent_parent"],
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def start(self, environment: Mapping[str, str], log: Path) -> int:
        """Start one agent with exactly this environment; returns its process id."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        request = json.dumps({"environment": dict(environment), "log": str(log)}).encode() + b"\n"
        with self._lock:
            try:
                self._parent.stdin.write(request)
                self._parent.stdin.flush()
                answer = self._parent.stdout.readline()
            except OSError:
                answer = b""
        if not answer:
            raise AgentParentError(f"no agent can be started; see {self._log}")
        self._begun.append(int(answer))
        return self._begun[-1]

    def kill(self, pid: int, how: signal.Signals = signal.SIGKILL) -> None:
        """Send this signal to an agent; one that has ended already is fine."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)

    def is_running(self, pid: int | None) -> bool:
        """Whether this agent lives; one that ended and was not yet waited for does not."""
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state != "Z"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all agents (SIGTERM, then SIGKILL) and their parent. Calling it twice is fine."""
        for pipe in (self._parent.stdin, self._parent.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._parent.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._parent.kill()
            self._parent.wait()
            self._wait_for_the_kernel()

    def _wait_for_the_kernel(self) -> None:
        """Return when it has killed the agents of a parent that was killed: it does so at once, and by itself."""
        until = time.monotonic() + _KILLED_SECONDS
        while any(self.is_running(pid) for pid in self._begun) and time.monotonic() < until:
            time.sleep(0.01)
