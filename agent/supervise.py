"""Keeps a source running: what it raises is logged, and it is begun again after a while. One never stops another.

Decides how long to wait between two tries. It must not know what a source does.
"""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

_FIRST_SECONDS, _LONGEST_SECONDS = 1.0, 60.0


def keep_running(name: str, run: Callable[[threading.Event], None], stop: threading.Event) -> None:
    """Call *run* until *stop*; after a failure again, at first soon."""
    wait = _FIRST_SECONDS
    while not stop.is_set():
        try:
            run(stop)
        except OSError as error:
            log.error("source cannot be read", extra={"source": name, "error": str(error), "again_in": wait})  # noqa: TRY400 - the message says all
        except Exception:
            log.exception("source failed", extra={"source": name, "again_in": wait})
        stop.wait(wait)
        wait = min(_LONGEST_SECONDS, wait * 2)


def start(name: str, run: Callable[[threading.Event], None], stop: threading.Event) -> threading.Thread:
    """Return the thread that keeps *run* running; join it after setting *stop*."""
    thread = threading.Thread(target=keep_running, args=(name, run, stop), name=name, daemon=True)
    thread.start()
    return thread
