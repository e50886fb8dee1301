"""In the prober's process: asks file systems how they are, and never waits for one that does not answer.

A call into a file system whose server is gone does not come back, and its thread cannot be ended. So each mount has a
thread of its own, at most one under way at a time; an ask takes what came back and says of the rest since when it is
out. Standard library only. It must not know which mounts matter.

    ask     {"paths": ["/", "/fsx"]}
    answer  {"/": {"usage": [size, used, available, inodes, inodes available], "device": "259:1", "took": 0.0001},
             "/fsx": {"out": 31.5},                                   seconds, no answer yet
             "/data": {"error": "ESTALE", "took": 0.2}}
"""

import errno
import os
import threading
import time
from collections.abc import Callable
from typing import Any

MOST = 96  # threads: more mounts than that are not asked
PATIENCE_SECONDS = 0.5  # how long an ask waits for all: longer than a healthy server takes, far below any deadline
TOO_MANY = "EAGAIN"  # so many others do not answer that this one was not asked
Answer = dict[str, Any]


class _Call:
    """One call under way, or come back."""

    def __init__(self, path: str, probe: Callable[[str], Answer]) -> None:
        self._path, self._probe = path, probe
        self.began = time.monotonic()
        self.done = threading.Event()
        self.answer: Answer = {}
        threading.Thread(target=self._run, name=path, daemon=True).start()

    def _run(self) -> None:
        try:
            answer = self._probe(self._path)
        except OSError as error:
            answer = {"error": errno.errorcode.get(error.errno or 0, str(error))}
        self.answer = {**answer, "took": round(time.monotonic() - self.began, 6)}
        self.done.set()


def look(path: str) -> Answer:
    """Ask the file system at *path* for its size (a server has to answer that) and for the folder itself."""
    size = os.statvfs(path)
    device = os.stat(path).st_dev  # noqa: PTH116 - the call that may hang, and nothing around it
    block = size.f_frsize
    used = (size.f_blocks - size.f_bfree) * block
    usage = [size.f_blocks * block, used, size.f_bavail * block, size.f_files, size.f_favail]
    return {"usage": usage, "device": f"{os.major(device)}:{os.minor(device)}"}


class MountTopic:
    """See `agent.prober.child.Topic`."""

    def __init__(self, push: object = None, probe: Callable[[str], Answer] = look) -> None:
        """Nothing is pushed; *probe* is called in a thread of its own for each mount."""
        del push
        self._probe = probe
        self._calls: dict[str, _Call] = {}

    def answer(self, ask: Any) -> dict[str, Answer]:  # noqa: ANN401 - JSON
        """Return what is known of each path of *ask* within half a second."""
        paths = list(dict.fromkeys(ask["paths"]))
        for path in paths:
            if path not in self._calls and len(self._calls) < MOST:
                self._calls[path] = _Call(path, self._probe)
        deadline = time.monotonic() + PATIENCE_SECONDS
        for path in paths:
            if path in self._calls:
                self._calls[path].done.wait(max(0.0, deadline - time.monotonic()))
        return {path: self._take(path) for path in paths}

    def _take(self, path: str) -> Answer:
        call = self._calls.get(path)
        if call is None:
            return {"error": TOO_MANY}
        if not call.done.is_set():
            return {"out": round(time.monotonic() - call.began, 3)}
        del self._calls[path]
        return call.answer
