"""Asks the prober, a child process, with a deadline: a call that never returns costs an answer, not the agent.

A topic whose call is overdue answers nothing more until it comes back. A prober with an overdue topic is given up for
a new one after a minute, at most three times: a process that hangs in the kernel cannot even be killed, and would pile
up. One that ended is begun again, after a growing pause. It must not know topics.
"""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

log = logging.getLogger(__name__)

Json = Any
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
GIVE_UP_SECONDS = 60.0
MOST_GIVEN_UP = 3
_END_SECONDS = 1.0


class ProbeError(Exception):
    """No answer."""


class ProbeHungError(ProbeError):
    """The call did not come back within its deadline; ``since`` is when it began (monotonic seconds)."""

    def __init__(self, topic: str, since: float) -> None:
        super().__init__(f"the call {topic} does not come back")
        self.topic = topic
        self.since = since


class ProbeFailedError(ProbeError):
    """The call raised, or the prober ended; ``kind`` is the name of what was raised there."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class _Asked:
    """One ask that is under way."""

    def __init__(self, topic: str, began: float) -> None:
        self.topic, self.began = topic, began
        self.done = threading.Event()
        self.answer: dict[str, Json] = {}
        self.overdue = False


class Prober:
    """Safe for threads. The child begins at the first ask."""

    def __init__(self, topics: Mapping[str, str], *, environ: Mapping[str, str] | None = None) -> None:
        """Offer *topics*: name -> ``module:Class``. *environ* is added to this process's own environment."""
        self._words = [sys.executable, "-P", "-m", "agent.prober.child", *(f"{k}={v}" for k, v in topics.items())]
        self._environ = {**os.environ, **(environ or {})}
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: dict[int, _Asked] = {}
        self._next_id = 0
        self._listeners: dict[str, Callable[[Json], None]] = {}
        self._pause, self._not_before = _FIRST_PAUSE, 0.0
        self._given_up: list[subprocess.Popen[bytes]] = []
        self._closed = False
        self._resting = 0

    @property
    def pid(self) -> int | None:
        """The child's process id, while there is one."""
        with self._lock:
            return self._process.pid if self._process else None

    def listen(self, topic: str, listener: Callable[[Json], None]) -> None:
        """Call *listener*, in the reader's thread, with whatever *topic* pushes."""
        with self._lock:
            self._listeners[topic] = listener

    def ask(self, topic: str, ask: Json, deadline: float) -> Json:
        """Return the answer; ProbeHungError after *deadline* seconds, ProbeFailedError when there is none to come."""
        with self._lock:
            self._refuse_if_overdue(topic)
            process = self._running()
            self._next_id += 1
            name, asked = self._next_id, _Asked(topic, time.monotonic())
            self._asked[name] = asked
            self._send(process, {"id": name, "topic": topic, "ask": ask})
        if not asked.done.wait(deadline):
            with self._lock:
                asked.overdue = not asked.done.is_set()
            if asked.overdue:
                raise ProbeHungError(topic, asked.began)
        if "error" in asked.answer:
            raise ProbeFailedError(asked.answer["error"], asked.answer.get("type", ""))
        return asked.answer["ok"]

    @contextmanager
    def resting(self) -> Iterator[None]:
        """End the child, and begin none meanwhile: it holds every GPU open, and what is open cannot be reset."""
        with self._lock:
            self._resting += 1
            process, self._process = self._process, None
            self._fail_all("the prober rests")
        if process:
            _end(process)
        try:
            yield
        finally:
            with self._lock:
                self._resting -= 1
                self._not_before = 0.0  # it was ended, it did not end

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process:
            _end(process)

    def _refuse_if_overdue(self, topic: str) -> None:
        late = next((one for one in self._asked.values() if one.topic == topic and one.overdue), None)
        if late is None:
            return
        if time.monotonic() - late.began > GIVE_UP_SECONDS and self._can_give_up():
            log.warning("a call does not come back; a new prober is begun", extra={"topic": topic})
            self._give_up()
            return
        raise ProbeHungError(topic, late.began)

    def _can_give_up(self) -> bool:
        self._given_up = [one for one in self._given_up if one.poll() is None]
        return len(self._given_up) < MOST_GIVEN_UP

    def _give_up(self) -> None:
        process, self._process = self._process, None
        if process:
            _end(process)
            self._given_up.append(process)
        self._fail_all("the prober was given up")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise ProbeFailedError("the prober is closed")
        if self._resting:
            raise ProbeFailedError("the prober rests while a GPU is reset")
        if self._process is None:
            if time.monotonic() < self._not_before:
                raise ProbeFailedError("the prober ended and waits before it begins again")
            self._not_before = time.monotonic() + self._pause
            self._pause = min(_LONGEST_PAUSE, self._pause * 2)
            self._process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environ, close_fds=True
            )
            threading.Thread(target=self._listen, args=(self._process,), name="prober", daemon=True).start()
        return self._process

    def _send(self, process: subprocess.Popen[bytes], line: dict[str, Json]) -> None:
        stdin = _pipe(process.stdin)
        try:
            stdin.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            stdin.flush()
        except OSError as error:
            del self._asked[line["id"]]
            raise ProbeFailedError(f"the prober ended ({error.strerror})") from None

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        for line in _pipe(process.stdout):
            try:
                said = json.loads(line)
            except ValueError:
                log.warning("the prober said what is no JSON", extra={"said": line[:200].decode("utf-8", "replace")})
                continue
            self._hear(process, said)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        _pipe(process.stdout).close()
        with self._lock:
            with suppress(OSError):
                _pipe(process.stdin).close()
            if self._process is process:
                self._process = None
                self._fail_all(f"the prober ended (status {process.poll()})")

    def _hear(self, process: subprocess.Popen[bytes], said: dict[str, Json]) -> None:
        with self._lock:
            if self._process is not process:
                return
            if "push" in said:
                listener = self._listeners.get(said["topic"])
            else:
                listener = None
                asked = self._asked.pop(said["id"], None)
                if asked:
                    asked.answer = said
                    asked.done.set()
                    self._pause = _FIRST_PAUSE
        if listener:
            listener(said["push"])

    def _fail_all(self, why: str) -> None:
        for asked in self._asked.values():
            asked.answer = {"error": why}
            asked.done.set()
        self._asked.clear()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "it was asked for"
    return stream


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        process.kill()
    with suppress(subprocess.TimeoutExpired):  # it may hang in the kernel, where no signal reaches it
        process.wait(_END_SECONDS)
    with suppress(OSError):
        _pipe(process.stdin).close()
