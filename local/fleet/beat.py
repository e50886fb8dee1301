"""A thread that does one thing again and again until it is told to stop.

What fails is shown and tried again at the next beat, as a kubelet or a cloud controller does. It must not know what
it does.
"""

import threading
import traceback
from collections.abc import Callable


class Beat:
    """Calls *step*, then waits *seconds*, from `start` to `stop`."""

    def __init__(self, name: str, step: Callable[[], None], seconds: float) -> None:
        self._step = step
        self._seconds = seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let the step under way end, and begin no other."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._step()
            except Exception:  # noqa: BLE001 - the next beat tries again; what fails while all is taken down is no news
                if not self._stopping.is_set():
                    traceback.print_exc()
            self._stopping.wait(self._seconds)
