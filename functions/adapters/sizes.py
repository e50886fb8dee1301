"""How many nodes a cluster and its racks have: those whose agents were heard lately.

It must not know how signs of life are packed (`seen.py` does), nor who finds out where a node is (intake does).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from functions.adapters.seen import DynamoSeen
from policies.contract.envelope import NodeIdentity

LATELY = timedelta(minutes=15)  # a node that breaks still counts: it is a share of the fleet as it was
MOST_PLACES = 20_000  # remembered by a warm worker; an instance stays where it is while it runs


class Places(Protocol):
    """Where nodes are (`functions/adapters/topology.py`)."""

    def find(self, clusters: Sequence[str], instance_ids: Sequence[str]) -> Mapping[str, NodeIdentity]:
        """Return those that are kept."""
        ...


class SeenSizes:
    """Counts in the ``SEEN#`` items of the fleet table, and by the places that intake keeps beside them."""

    def __init__(self, seen: DynamoSeen, places: Places, clock: Callable[[], datetime]) -> None:
        """Read from *seen* and *places*, and take *clock*'s time for now."""
        self._seen, self._places, self._clock = seen, places, clock
        self._racks: dict[tuple[str, str], str] = {}

    def count(self, cluster: str, rack: str = "") -> int:
        """Return how many nodes of *cluster* (of its *rack* alone) were heard in the last quarter of an hour."""
        since = self._clock() - LATELY
        alive = [name for name, heard in self._seen.everyone(cluster).items() if heard.at >= since]
        return len(alive) if not rack else sum(1 for at in self._racks_of(cluster, alive) if at == rack)

    def _racks_of(self, cluster: str, alive: Collection[str]) -> list[str]:
        unknown = [name for name in alive if (cluster, name) not in self._racks]
        if len(self._racks) + len(unknown) > MOST_PLACES:
            self._racks.clear()
            unknown = list(alive)
        found = self._places.find([cluster], unknown) if unknown else {}
        self._racks |= {(cluster, name): node.network_path[-1] for name, node in found.items() if node.network_path}
        return [self._racks.get((cluster, name), "") for name in alive]
