"""Where each part of the agent says what the status endpoint shows of it. It must not know the parts."""

import threading
from collections.abc import Callable
from typing import Any

Tell = Callable[[], Any]
"""Returns JSON, at once: it is called while somebody waits for the answer."""


class Board:
    """Safe for threads."""

    def __init__(self) -> None:
        """Nobody says anything yet."""
        self._lock = threading.Lock()
        self._tells: dict[str, Tell] = {}

    def tell(self, name: str, tell: Tell) -> None:
        """Show under *name* what *tell* returns."""
        with self._lock:
            self._tells[name] = tell

    def all(self) -> dict[str, Any]:
        """Return what everybody says; what cannot say anything says why."""
        with self._lock:
            tells = dict(self._tells)
        return {name: _told(tell) for name, tell in sorted(tells.items())}


def _told(tell: Tell) -> Any:  # noqa: ANN401 - JSON
    try:
        return tell()
    except Exception as error:  # noqa: BLE001 - a status that is asked in a bad hour has to show the rest
        return {"error": f"{type(error).__name__}: {error}"}
