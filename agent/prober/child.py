"""The process that makes the calls which may never come back, or crash: driver and file system calls.

    python -P -m agent.prober.child gpu=agent.gpu.nvml.topic:GpuTopic ...

Standard library only, and what a topic needs: it is a second process on the node and has to be small. One thread a
topic, so that one that hangs holds up no other. It ends when its parent does.

Lines (JSON): in ``{"id", "topic", "ask"}``; out ``{"id", "ok"}`` or ``{"id", "error", "type"}``; unasked
``{"topic", "push"}``. It must not know what is asked.
"""

import ctypes
import importlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

from agent.memory import share_one_arena

_PR_SET_PDEATHSIG = 1
Push = Callable[[Any], None]


class Topic(Protocol):
    """What a topic's class, made with a function that pushes, has to do. Each method is called in its own thread."""

    def answer(self, ask: Any) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to *ask* as JSON; what is raised becomes an error with its type's name."""
        ...


class _Out:
    """What was standard output, a line at a time.

    A library that prints (drivers' do) must not print between our lines, or into one: what it says goes where errors
    go.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._to = os.dup(1)
        os.dup2(2, 1)

    def write(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._to, data) :]
            except BrokenPipeError:
                os._exit(0)  # nobody reads any more; a thread that hangs would hold up anything gentler


def _work(name: str, where: str, asks: "queue.SimpleQueue[dict[str, Any]]", out: _Out) -> None:
    topic: Topic | None = None
    while True:
        ask = asks.get()
        try:
            topic = topic or _load(where, lambda what: out.write({"topic": name, "push": what}))
            out.write({"id": ask["id"], "ok": topic.answer(ask["ask"])})
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent hears of it
            out.write({"id": ask["id"], "error": str(error), "type": type(error).__name__})


def _load(where: str, push: Push) -> Topic:
    module, _, name = where.partition(":")
    made: Topic = getattr(importlib.import_module(module), name)(push)
    return made


def main(words: list[str]) -> None:
    """Answer until standard input ends."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the parent blocks what it waits for; we would inherit that
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent ends us
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    share_one_arena()
    out = _Out()
    asks: dict[str, queue.SimpleQueue[dict[str, Any]]] = {}
    for word in words:
        name, _, where = word.partition("=")
        asks[name] = queue.SimpleQueue()
        threading.Thread(target=_work, args=(name, where, asks[name], out), name=name, daemon=True).start()
    for line in sys.stdin.buffer:
        ask = json.loads(line)
        asks[ask["topic"]].put(ask)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
