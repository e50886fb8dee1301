"""Warm workers, reused per function. It keeps deadlines: a worker that does not answer in time is killed.

It knows what a worker needs to start (`WorkerSpec`), not what a Lambda function is in moto.
"""

import contextlib
import os
import socket
import subprocess
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.aws.errors import WorkerLostError
from local.aws.workers import wire

# More idle workers of one function than this are let go: a burst must not hold memory for the rest of a run.
MAX_IDLE_PER_FUNCTION = 8
_SPARE_SECONDS = 0.05  # what the answer of a worker may take on its way after the deadline
# A new worker imports the function's code. Lambda gives this init phase ten seconds of its own ("Lambda execution
# environment lifecycle").
_INIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """All that one function's workers have in common. Two equal specs share workers."""

    function_name: str
    function_arn: str
    handler: str
    task_root: Path
    log_file: Path
    log_group: str
    memory: str
    environment: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker said: the payload, whether the handler raised, and whether this was the worker's last word."""

    payload: bytes
    failed: bool
    has_ended: bool = False


class _Worker:
    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self._channel = channel
        self._is_ready = False

    def call(self, spec: WorkerSpec, event: bytes, timeout: float) -> Answer:
        self._wait_until_ready()
        header = {
            "request_id": str(uuid.uuid4()),
            "function_name": spec.function_name,
            "function_arn": spec.function_arn,
            "memory": spec.memory,
            "log_group": spec.log_group,
            "deadline": time.time() + timeout,
        }
        self._channel.settimeout(timeout + _SPARE_SECONDS)
        wire.send(self._channel, header, event)
        answer, payload = self._receive()
        return Answer(payload, failed=answer["failed"], has_ended=answer["ended"])

    def _wait_until_ready(self) -> None:
        if not self._is_ready:
            self._channel.settimeout(_INIT_SECONDS)
            self._receive()
            self._is_ready = True

    def _receive(self) -> tuple[wire.Header, bytes]:
        frame = wire.receive(self._channel)
        if frame is None:
            raise ConnectionResetError("the worker ended without an answer")
        return frame[0], frame[1]

    def close(self) -> None:
        self._channel.close()


class WorkerPool:
    """Starts the zygote, hands out workers, and kills all of them on `close`."""

    def __init__(self, python: str, hidden_paths: tuple[str, ...]) -> None:
        """Start the zygote.

        Args:
            python: the interpreter of the workers.
            hidden_paths: entries of sys.path that a worker must not import from (the checkout, when code is bundled).
        """
        self.is_closing = False
        self._hidden = hidden_paths
        self._lock = threading.Lock()
        self._idle: dict[WorkerSpec, list[_Worker]] = defaultdict(list)
        self._control, theirs = socket.socketpair()
        with theirs:
            command = [python, "-m", "local.aws.workers.zygote", str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def invoke(self, spec: WorkerSpec, event: bytes, timeout: float) -> Answer:
        """Run one invocation.

        Raises:
            TimeoutError: the deadline passed; the worker was killed.
            WorkerLostError: the worker died by itself (out of memory, os._exit, a crash).
        """
        worker = self._take(spec)
        try:
            answer = worker.call(spec, event, timeout)
        except TimeoutError:
            self._kill(worker)
            raise
        except OSError as error:
            self._kill(worker)
            raise WorkerLostError(f"a worker of {spec.function_name} died: see {spec.log_file}") from error
        if answer.has_ended:
            worker.close()
        else:
            self._give_back(spec, worker)
        return answer

    def _take(self, spec: WorkerSpec) -> _Worker:
        with self._lock:
            idle = self._idle[spec]
            return idle.pop() if idle else self._fork(spec)

    def _give_back(self, spec: WorkerSpec, worker: _Worker) -> None:
        with self._lock:
            idle = self._idle[spec]
            if len(idle) < MAX_IDLE_PER_FUNCTION:
                idle.append(worker)
                return
        worker.close()  # the end of its channel ends the worker

    def _fork(self, spec: WorkerSpec) -> _Worker:
        ours, theirs = socket.socketpair()
        request = {
            "op": "fork",
            "handler": spec.handler,
            "environment": dict(spec.environment),
            "path": str(spec.task_root),
            "hidden": [path for path in self._hidden if path != str(spec.task_root)],
        }
        log = os.open(spec.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            with theirs:
                wire.send(self._control, request, fds=(theirs.fileno(), log))
                frame = wire.receive(self._control)
        finally:
            os.close(log)
        if frame is None:
            raise WorkerLostError("the parent of the Lambda workers has ended; start the embedded AWS again")
        return _Worker(frame[0]["pid"], ours)

    def _kill(self, worker: _Worker) -> None:
        with self._lock, contextlib.suppress(OSError):
            wire.send(self._control, {"op": "kill", "pid": worker.pid})
        worker.close()

    def close(self) -> None:
        self.is_closing = True  # first: a worker that is lost from here on was ended, and is no failure of its own
        self._control.close()  # the zygote kills its workers when it sees this
        try:
            self._process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def environment_items(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """An environment as part of a worker's identity."""
    return tuple(sorted(environment.items()))
