"""Bells: a put rings, a poller wakes. This is why an idle queue costs nothing and a put is seen at once."""

import threading
from collections import defaultdict


class Bell:
    """Counts rings, so that a ring between a look and a wait is not missed."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._rings = 0

    @property
    def rings(self) -> int:
        return self._rings

    def ring(self) -> None:
        with self._condition:
            self._rings += 1
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float) -> None:
        """Return when there have been more than `seen` rings, or after `seconds`."""
        with self._condition:
            self._condition.wait_for(lambda: self._rings > seen, seconds)


class Bells:
    """One bell for each ARN that events come from."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bells: defaultdict[str, Bell] = defaultdict(Bell)

    def of(self, arn: str) -> Bell:
        with self._lock:
            return self._bells[arn]
