"""Runs the control loops: at once after a change, and on a slow beat for what only time brings."""

import threading
import traceback
from collections.abc import Callable, Sequence

from local.kubernetes.errors import StatusError
from local.kubernetes.store import Store

_OVERTAKEN = frozenset({404, 409})  # a client wrote or deleted in between: the next look sees it


class Manager:
    """One thread for all loops, from `start` to `stop`."""

    def __init__(self, store: Store, loops: Sequence[Callable[[], None]], beat_seconds: float = 0.1) -> None:
        self._store = store
        self._loops = loops
        self._beat = beat_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kubernetes-controllers", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            version = int(self._store.version())
            self.run_once()
            self._store.history.wait(version, self._beat)

    def run_once(self) -> None:
        """Every loop once; one that fails shows its traceback and is tried again, as a controller's work queue does."""
        for loop in self._loops:
            try:
                loop()
            except StatusError as error:
                if error.code not in _OVERTAKEN:
                    traceback.print_exc()
            except Exception:  # noqa: BLE001 - one broken loop must not stop the others
                traceback.print_exc()
