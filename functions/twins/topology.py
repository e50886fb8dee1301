"""Topology items and EC2's directory in memory."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from functions.ports.topology import Described
from policies.contract.envelope import NodeIdentity


class MemoryTopology:
    """``kept`` maps (cluster, instance id) to the identity, ``expires`` to when it is forgotten."""

    def __init__(self) -> None:
        """Start knowing nobody."""
        self.kept: dict[tuple[str, str], NodeIdentity] = {}
        self.expires: dict[tuple[str, str], datetime] = {}

    def find(self, clusters: Sequence[str], instance_ids: Sequence[str]) -> Mapping[str, NodeIdentity]:
        """See the port."""
        wanted = ((cluster, instance) for instance in instance_ids for cluster in clusters)
        return {key[1]: self.kept[key] for key in wanted if key in self.kept}

    def keep(self, node: NodeIdentity, expires: datetime) -> None:
        """See the port."""
        self.kept[node.cluster, node.instance_id] = node
        self.expires[node.cluster, node.instance_id] = expires


class MemoryEc2Directory:
    """``instances`` and their ``paths`` by id, ``reservations`` by id of the reservation.

    ``asked`` counts the calls of describe.
    """

    def __init__(self) -> None:
        """Start with an empty account."""
        self.instances: dict[str, Described] = {}
        self.reservations: dict[str, list[str]] = {}
        self.paths: dict[str, tuple[str, ...]] = {}
        self.asked = 0

    def describe(self, instance_ids: Sequence[str]) -> Mapping[str, Described]:
        """See the port."""
        self.asked += 1
        return {name: self.instances[name] for name in instance_ids if name in self.instances}

    def places(self, instance_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """See the port."""
        return {name: self.paths[name] for name in instance_ids if name in self.paths}

    def in_reservation(self, reservation_id: str) -> Sequence[str]:
        """See the port."""
        return self.reservations.get(reservation_id, [])
