"""Callers that are to die on command: right after the API did what they asked, before they hear of it.

Decides whose call is meant. It must not know connections or processes.
"""

import threading
from collections.abc import Callable

from local.kubernetes.api import Answer, Request

_REFUSED = 400


class Kills:
    """The deaths still to come, oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: list[Callable[[Request], bool]] = []

    def add(self, matches: Callable[[Request], bool]) -> None:
        """Let the next caller die whose request *matches* and was not refused."""
        with self._lock:
            self._wanted.append(matches)

    def take(self, request: Request, answer: Answer) -> bool:
        """Whether who sent this request dies of it."""
        if not self._wanted or answer.code >= _REFUSED:
            return False
        with self._lock:
            for matches in self._wanted:
                if matches(request):
                    self._wanted.remove(matches)
                    return True
        return False

    @property
    def pending(self) -> int:
        """How many deaths have not happened yet."""
        return len(self._wanted)
