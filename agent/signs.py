"""What the agent is told while it runs: signals, and a settings file that changed.

Decides which signal means what. It must not know what comes of it.
"""

import signal
import threading
from pathlib import Path

_STOP = frozenset({signal.SIGTERM, signal.SIGINT})
_RELOAD = signal.SIGHUP


class Signs:
    """``stop`` is set once. Safe for threads."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.stop = threading.Event()
        self._reload = threading.Event()

    def listen(self) -> None:
        """Hear signals from now on, in every thread that is begun later: call it in the first."""
        # Blocked in every thread and fetched by one: a handler would run inside whatever holds the lock that it needs.
        signal.pthread_sigmask(signal.SIG_BLOCK, {*_STOP, _RELOAD})
        threading.Thread(target=self._hear, name="signals", daemon=True).start()

    def take_reload(self) -> bool:
        """Tell whether a reload was asked for since the last call."""
        asked = self._reload.is_set()
        self._reload.clear()
        return asked

    def ask_reload(self) -> None:
        """Ask for one."""
        self._reload.set()

    def _hear(self) -> None:
        while signal.sigwait({*_STOP, _RELOAD}) == _RELOAD:
            self.ask_reload()
        self.stop.set()


class WatchedFile:
    """A file that is looked at every second: renamed over, edited, or a link that points elsewhere now."""

    def __init__(self, path: Path | None) -> None:
        """Look at *path* now, so that `changed` tells what changed since."""
        self._path = path
        self._seen = self._look()

    def changed(self) -> bool:
        """Tell whether it is another than at the last call; one that is missing is not."""
        now = self._look()
        if now is None or now == self._seen:
            return False
        self._seen = now
        return True

    def _look(self) -> tuple[int, int, int] | None:
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size
