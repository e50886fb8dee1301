"""Topics for tests of the prober: loaded in the child process."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Odd:
    """Answers, waits, raises or dies as asked."""

    def __init__(self, push: Callable[[Any], None]) -> None:
        self._push = push

    def answer(self, ask: Any) -> Any:  # noqa: ANN401
        if "sleep" in ask:
            time.sleep(ask["sleep"])
        while "until" in ask and not Path(ask["until"]).exists():
            time.sleep(0.01)
        if "raise" in ask:
            raise ValueError(ask["raise"])
        if "die" in ask:
            os.kill(os.getpid(), signal.SIGKILL)
        if "push" in ask:
            threading.Thread(target=self._push, args=(ask["push"],)).start()
        if "print" in ask:  # as a library in C does: past Python's own files
            os.write(1, ask["print"].encode())
        if "out" in ask:  # as nothing should: among the answers
            os.write(
                max(int(one.name) for one in Path("/proc/self/fd").iterdir() if _is_pipe(one)), ask["out"].encode()
            )
        return {"pid": os.getpid(), "said": ask.get("say")}


def _is_pipe(descriptor: Path) -> bool:
    try:
        return descriptor.name not in "012" and str(descriptor.readlink()).startswith("pipe:")
    except OSError:
        return False
