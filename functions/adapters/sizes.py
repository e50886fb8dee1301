"""How many nodes a cluster and its racks have: those whose agents were heard lately.

It must not know how signs of life are packed (`seen.py` does), nor who finds out where a node is (intake does).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

from functions.adapters.seen import DynamoSeen
from functions.place_book import PlaceBook
from functions.ports.triage import NodeKey

LATELY = timedelta(minutes=15)  # a node that breaks still counts: it is a share of the fleet as it was


class SeenSizes:
    """Counts in the ``SEEN#`` items of the fleet table, and by the places that intake keeps beside them."""

    def __init__(self, seen: DynamoSeen, places: PlaceBook, clock: Callable[[], datetime]) -> None:
        """Read from *seen* and *places*, and take *clock*'s time for now."""
        self._seen, self._places, self._clock = seen, places, clock

    def living(self, cluster: str, racks: Collection[str]) -> Mapping[str, int]:
        """See the port; who was heard in the last quarter of an hour lives. One reading, however many *racks*."""
        now = self._clock()
        heard = self._seen.everyone(cluster).items()
        alive = [NodeKey(cluster, name) for name, last in heard if last.at >= now - LATELY]
        placed: Counter[str] = Counter()
        if any(racks):
            placed.update(path[-1] for path in self._places.find(alive, now).values() if path)
        return {rack: placed[rack] if rack else len(alive) for rack in racks}
