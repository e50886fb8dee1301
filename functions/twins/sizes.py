"""How many nodes a cluster and its racks have, as told."""

from collections.abc import Collection, Mapping


class MemorySizes:
    """``nodes`` is cluster -> count, ``racks`` is (cluster, rack) -> count."""

    def __init__(
        self, nodes: Mapping[str, int] | None = None, racks: Mapping[tuple[str, str], int] | None = None
    ) -> None:
        """Start with these counts."""
        self.nodes = dict(nodes or {})
        self.racks = dict(racks or {})

    def living(self, cluster: str, racks: Collection[str]) -> Mapping[str, int]:
        """See the port."""
        return {rack: self.racks.get((cluster, rack), 0) if rack else self.nodes.get(cluster, 0) for rack in racks}
