"""Asks the prober, a child process, with a deadline: a call that never returns costs an answer, not the agent.

A topic whose call is overdue answers nothing more until it comes back. A prober with an overdue topic is given up for
a new one after a minute, at most three times: a process that hangs in the kernel cannot even be killed, and would pile
up. One that ended is begun again, after a growing pause. What it says may be anything: a library in it may have gone
mad. It must not know topics.
"""

import fcntl
import json
import logging
import os
import queue
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
_LONGEST_LINE = 4 << 20  # bytes; sixteen GPUs with all their links are a hundredth of it
_PIPE_BYTES = 1 << 20  # of asks: a child that is stopped reads none, and to write one must not hold up the other topics


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
            self._fail_all("the prober is closed")
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
            process.kill()  # its reader waits for its end
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
            began: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()
            threading.Thread(target=self._live, args=(began,), name="prober", daemon=True).start()
            process = began.get()
            if isinstance(process, OSError):
                raise ProbeFailedError(f"the prober cannot be begun ({process.strerror})")
            self._process = process
        return self._process

    def _send(self, process: subprocess.Popen[bytes], line: dict[str, Json]) -> None:
        stdin = _pipe(process.stdin)
        try:
            stdin.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            stdin.flush()
        except OSError as error:
            del self._asked[line["id"]]
            raise ProbeFailedError(f"the prober ended ({error.strerror})") from None

    def _live(self, began: "queue.SimpleQueue[subprocess.Popen[bytes] | OSError]") -> None:
        """Begin a child and hear it until it ends: it is killed when the thread that began it ends (prctl(2))."""
        try:
            process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environ, close_fds=True
            )
        except OSError as error:
            began.put(error)
            return
        with suppress(OSError):
            fcntl.fcntl(_pipe(process.stdin), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        began.put(process)
        self._listen(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        _pipe(process.stdout).close()
        with self._lock:
            with suppress(OSError):
                _pipe(process.stdin).close()
            if self._process is process:
                self._process = None
                self._fail_all(f"the prober ended (status {process.poll()})")

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        odd = 0
        while line := _pipe(process.stdout).readline(_LONGEST_LINE):
            said = _understood(line)
            if said is not None:
                self._hear(process, said)
                continue
            odd += 1
            if odd == 1:
                words = line[:200].decode("utf-8", "replace")
                log.warning("the prober said what is no answer", extra={"said": words})

    def _hear(self, process: subprocess.Popen[bytes], said: dict[str, Json]) -> None:
        with self._lock:
            if self._process is not process:
                return
            listener = self._listeners.get(said["topic"]) if "push" in said else None
            asked = self._asked.pop(said["id"], None) if "push" not in said else None
            if asked:
                asked.answer = said
                asked.done.set()
                self._pause = _FIRST_PAUSE
        if listener:
            try:
                listener(said["push"])
            except Exception:
                log.exception("what the prober told unasked was not understood")

    def _fail_all(self, why: str) -> None:
        for asked in self._asked.values():
            asked.answer = {"error": why}
            asked.done.set()
        self._asked.clear()


def _understood(line: bytes) -> dict[str, Json] | None:
    """Return what *line* says if it is an answer or something told unasked."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    if "push" in said:
        return said if isinstance(said.get("topic"), str) else None
    return said if isinstance(said.get("id"), int) and ("ok" in said or "error" in said) else None


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
