"""Keeps a source running: what it raises is logged, and it is begun again after a while. One never stops another.

Decides how long to wait between two tries, and that the same failure is not said every time. It must not know what a
source does.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from agent.vitals import Vitals

log = logging.getLogger(__name__)

_FIRST_SECONDS, _LONGEST_SECONDS = 1.0, 60.0
_RAN_WELL_SECONDS = 60.0  # a source that ran for so long was well: the next failure is a new one
_GOES_ON_SECONDS = 5.0  # one that failed and is tried again is well no sooner: most fail at once
_SAID_AGAIN_SECONDS = 3600.0


class _Failures:
    """What was said last about a source that fails, and when."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: tuple[str, float] | None = None

    def tell(self, error: BaseException, wait: float) -> None:
        """Log *error* unless the same was said within the hour."""
        text, now = f"{type(error).__name__}: {error}", time.monotonic()
        if self._said and self._said[0] == text and now - self._said[1] < _SAID_AGAIN_SECONDS:
            return
        self._said = text, now
        told = {"source": self._name, "error": str(error), "again_in": wait}
        if isinstance(error, OSError):
            log.error("source cannot be read", extra=told)
        else:
            log.error("source failed", extra=told, exc_info=error)


def keep_running(name: str, run: Callable[[threading.Event], None], stop: threading.Event, vitals: Vitals) -> None:
    """Call *run* until *stop*; after a failure again, at first soon."""
    wait = _FIRST_SECONDS
    failures = _Failures(name)
    failed = False
    vitals.running(name)
    while not stop.is_set():
        began = time.monotonic()
        try:
            with _recovering(name, vitals) if failed else nullcontext():
                run(stop)
        except BaseException as error:  # noqa: BLE001 - whatever it is, SystemExit too: the others go on, this tries again
            if time.monotonic() - began > _RAN_WELL_SECONDS:
                wait = _FIRST_SECONDS
            failures.tell(error, wait)
            vitals.failing(name, f"{type(error).__name__}: {error}")
            failed = True
        stop.wait(wait)
        wait = min(_LONGEST_SECONDS, wait * 2)


@contextmanager
def _recovering(name: str, vitals: Vitals) -> Iterator[None]:
    """Say that *name* is well again once it has gone on for a while."""
    well = threading.Timer(_GOES_ON_SECONDS, vitals.recovered, (name,))
    well.daemon = True
    well.start()
    try:
        yield
    finally:
        well.cancel()


def start(name: str, run: Callable[[threading.Event], None], stop: threading.Event, vitals: Vitals) -> threading.Thread:
    """Return the thread that keeps *run* running; join it after setting *stop*."""
    thread = threading.Thread(target=keep_running, args=(name, run, stop, vitals), name=name, daemon=True)
    thread.start()
    return thread
