"""The preloaded parent of all Lambda workers. It imports the heavy libraries once and forks a worker on request.

It has one thread for its whole life: forking is safe only then. It must never import our Lambda code, so that each
worker takes the code of its own asset. Run as `python -m local.aws.workers.zygote FD`, with a socket on FD.

Requests: `{"op": "fork", handler, environment, path, hidden}` with two descriptors (channel, log file), answered by
`{"pid"}`; `{"op": "kill", pid}`, not answered. The end of the socket ends the zygote and every worker.
"""

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import threading
from typing import Any

from local.aws import model_files
from local.aws.workers import process, wire, worker

# What our functions import, heaviest first. A library that is absent is simply not preloaded.
PRELOADED = (
    "boto3",
    "botocore.httpsession",
    "pydantic",
    "aws_lambda_powertools",
    "aws_lambda_powertools.metrics",
    "cel",
    "lightkube",
    "yaml",
)
# What most of them are clients of.
SERVICES = ("dynamodb", "s3", "sqs", "kinesis", "stepfunctions")


def preload() -> None:
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # Not the developer's: nothing of an account may be read here. A worker's environment replaces this one.
    os.environ.update(AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
    model_files.parse_now(SERVICES)
    gc.collect()
    gc.freeze()  # what is loaded now stays shared with the workers: their collectors do not touch it


class Zygote:
    """Forks workers and reaps them."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._alive: set[int] = set()

    def serve(self) -> None:
        """Until the server hangs up."""
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(wake_read, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if wake_read in ready:
                    self._reap(wake_read)
                if self._control in ready and not self._answer():
                    break
        for pid in self._alive:
            os.kill(pid, signal.SIGKILL)
        for pid in self._alive:
            os.waitpid(pid, 0)

    def _reap(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 4096)
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                self._alive.discard(pid)

    def _answer(self) -> bool:
        frame = wire.receive(self._control, max_fds=2)
        if frame is None:
            return False
        request, _, fds = frame
        if request["op"] == "fork":
            wire.send(self._control, {"pid": self._fork(request, fds)})
        elif request["pid"] in self._alive:  # never a number that the kernel may have given to somebody else
            os.kill(request["pid"], signal.SIGKILL)
        return True

    def _fork(self, request: dict[str, Any], fds: list[int]) -> int:
        assert threading.active_count() == 1, "a thread in the zygote makes forking unsafe"
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            process.die_with_parent(parent)
            _become_worker(self._control, request, *fds)
        for fd in fds:
            os.close(fd)
        self._alive.add(pid)
        return pid


def _become_worker(control: socket.socket, request: dict[str, Any], channel_fd: int, log_fd: int) -> None:
    """The rest of a forked child's life. It never returns into the zygote's loop."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.close()
        os.dup2(log_fd, 1)
        os.dup2(log_fd, 2)
        os.close(log_fd)
        os.environ.clear()
        os.environ.update(request["environment"])
        hidden = set(request["hidden"])
        sys.path[:] = [request["path"], *(entry for entry in sys.path if entry not in hidden)]
        os.chdir(request["path"])
        worker.serve(socket.socket(fileno=channel_fd), request["handler"])
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    preload()
    Zygote(control).serve()


if __name__ == "__main__":
    main()
