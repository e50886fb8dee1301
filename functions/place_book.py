"""Where nodes are in the network, as intake found out, remembered for a while by a warm worker.

Decides how long. It must not decide which nodes are looked up, nor know how a place is found out.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from functions.ports.topology import TopologyStore
from functions.ports.triage import NodeKey

REMEMBERED = timedelta(hours=1)  # an instance keeps its place until it is stopped
UNKNOWN_REMEMBERED = timedelta(minutes=1)  # intake may be finding it out just now
MOST_REMEMBERED = 20_000


class PlaceBook:
    """Looks nodes up in *topology*."""

    def __init__(self, topology: TopologyStore) -> None:
        """Remember nothing yet."""
        self._topology = topology
        self._known: dict[NodeKey, tuple[tuple[str, ...], datetime]] = {}

    def find(self, keys: Collection[NodeKey], now: datetime) -> Mapping[NodeKey, tuple[str, ...]]:
        """Return the network path of each of *keys*, outermost first; empty if nobody knows. Raises DependencyError."""
        asked = list(dict.fromkeys(keys))
        found = {key: self._known[key][0] for key in asked if key in self._known and now < self._known[key][1]}
        return {**found, **self._look_up([key for key in asked if key not in found], now)}

    def _look_up(self, keys: Sequence[NodeKey], now: datetime) -> Mapping[NodeKey, tuple[str, ...]]:
        if len(self._known) + len(keys) > MOST_REMEMBERED:
            self._known.clear()
        paths: dict[NodeKey, tuple[str, ...]] = {}
        for cluster in sorted({key.cluster for key in keys}):
            mine = [key for key in keys if key.cluster == cluster]
            told = self._topology.find((cluster,), [key.instance_id for key in mine])
            for key in mine:
                paths[key] = told[key.instance_id].network_path if key.instance_id in told else ()
        for key, path in paths.items():
            self._known[key] = (path, now + (REMEMBERED if path else UNKNOWN_REMEMBERED))
        return paths
