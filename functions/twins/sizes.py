"""How many nodes a cluster has, as told."""

from collections.abc import Mapping


class MemorySizes:
    """``nodes`` is cluster -> count."""

    def __init__(self, nodes: Mapping[str, int] | None = None) -> None:
        """Start with these counts."""
        self.nodes = dict(nodes or {})

    def count(self, cluster: str) -> int:
        """Return how many nodes of *cluster* live; 0 when that is unknown."""
        return self.nodes.get(cluster, 0)
