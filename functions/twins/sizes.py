"""How many nodes a cluster and its racks have, as told."""

from collections.abc import Mapping


class MemorySizes:
    """``nodes`` is cluster -> count, ``racks`` is (cluster, rack) -> count."""

    def __init__(
        self, nodes: Mapping[str, int] | None = None, racks: Mapping[tuple[str, str], int] | None = None
    ) -> None:
        """Start with these counts."""
        self.nodes = dict(nodes or {})
        self.racks = dict(racks or {})

    def count(self, cluster: str, rack: str = "") -> int:
        """Return how many nodes of *cluster* (of its *rack* alone) live; 0 when that is unknown."""
        return self.racks.get((cluster, rack), 0) if rack else self.nodes.get(cluster, 0)
