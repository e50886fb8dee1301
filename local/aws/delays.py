"""Things to be done later: one thread, one heap. What it runs must be quick, or hand itself to a pool."""

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Delays:
    """Calls functions after a real delay, in order of their time."""

    def __init__(self) -> None:
        self._ready = threading.Condition()
        self._heap: list[tuple[float, int, Callable[[], object]]] = []
        self._tie = itertools.count()
        threading.Thread(target=self._run, name="delays", daemon=True).start()

    def call_later(self, seconds: float, action: Callable[[], object]) -> None:
        """Run `action` once, `seconds` of real time from now."""
        with self._ready:
            heapq.heappush(self._heap, (time.monotonic() + seconds, next(self._tie), action))
            self._ready.notify()

    def _run(self) -> None:
        while True:
            action = self._next()
            try:
                action()
            except Exception:  # noqa: BLE001 - logged; the other actions still have their time
                _log.exception("a delayed action failed")

    def _next(self) -> Callable[[], object]:
        with self._ready:
            while not self._heap or self._heap[0][0] > time.monotonic():
                wait = self._heap[0][0] - time.monotonic() if self._heap else None
                self._ready.wait(wait)
            return heapq.heappop(self._heap)[2]
