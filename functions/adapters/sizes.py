"""How many nodes a cluster has: those whose agents were heard lately.

It must not know how signs of life are packed (`seen.py` does).
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from functions.adapters.seen import DynamoSeen

LATELY = timedelta(minutes=15)  # a node that breaks still counts: it is a share of the fleet as it was


class SeenSizes:
    """Counts in the ``SEEN#`` items of the fleet table."""

    def __init__(self, seen: DynamoSeen, clock: Callable[[], datetime]) -> None:
        """Read from *seen*, and take *clock*'s time for now."""
        self._seen = seen
        self._clock = clock

    def count(self, cluster: str) -> int:
        """Return how many nodes of *cluster* were heard in the last quarter of an hour."""
        since = self._clock() - LATELY
        return sum(1 for heard in self._seen.everyone(cluster).values() if heard.at >= since)
