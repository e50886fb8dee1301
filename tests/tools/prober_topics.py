"""Topics for tests of the prober: loaded in the child process."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any


class Odd:
    """Answers, waits, raises or dies as asked."""

    def __init__(self, push: Callable[[Any], None]) -> None:
        self._push = push

    def answer(self, ask: Any) -> Any:  # noqa: ANN401
        if "sleep" in ask:
            time.sleep(ask["sleep"])
        if "raise" in ask:
            raise ValueError(ask["raise"])
        if "die" in ask:
            os.kill(os.getpid(), signal.SIGKILL)
        if "push" in ask:
            threading.Thread(target=self._push, args=(ask["push"],)).start()
        return {"pid": os.getpid(), "said": ask.get("say")}
