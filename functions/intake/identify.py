"""Whose instance is it: from the fleet table, else from EC2, and then kept for the time when EC2 has forgotten it.

Decides that an instance is ours by its tag `relight:cluster` or its Auto Scaling group. It must not know what happened.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from functions.ports.topology import Described, Ec2Directory, TopologyStore
from functions.settings import ClusterSettings
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError

CLUSTER_TAG = "relight:cluster"
GROUP_TAG = "aws:autoscaling:groupName"  # set by Auto Scaling itself, nobody else may
KEPT = timedelta(days=400)
KEPT_AFTER_THE_END = timedelta(days=7)  # late events of a terminated instance are days late at most


@dataclass(frozen=True)
class Register:
    """Node identities of the configured clusters."""

    clusters: Mapping[str, ClusterSettings]
    topology: TopologyStore
    ec2: Ec2Directory

    def identify(self, instance_ids: Collection[str], now: datetime) -> dict[str, NodeIdentity]:
        """Return those of *instance_ids* that are ours, by id; new ones are kept."""
        wanted = sorted(set(instance_ids))
        known = dict(self.topology.find(tuple(self.clusters), wanted)) if wanted else {}
        missing = [name for name in wanted if name not in known]
        found = [node for node in map(self._ours, self._described(missing)) if node]
        placed = self._placed([*known.values(), *found])
        for node in placed:
            if node != known.get(node.instance_id):
                self.topology.keep(node, now + KEPT)
        return {node.instance_id: node for node in placed}

    def _placed(self, nodes: Sequence[NodeIdentity]) -> list[NodeIdentity]:
        """Return *nodes* with where they are, as far as EC2 tells: only once they run, and not of every type.

        That it does not tell now keeps nobody waiting: the instance's next event asks again.
        """
        lost = [node.instance_id for node in nodes if not node.network_path]
        try:
            places = self.ec2.places(lost) if lost else {}
        except DependencyError:
            places = {}
        return [
            node.model_copy(update={"network_path": places[node.instance_id]}) if node.instance_id in places else node
            for node in nodes
        ]

    def let_go(self, nodes: Iterable[NodeIdentity], now: datetime) -> None:
        """Forget terminated *nodes* after a while."""
        for node in nodes:
            self.topology.keep(node, now + KEPT_AFTER_THE_END)

    def _described(self, instance_ids: list[str]) -> Iterable[Described]:
        return self.ec2.describe(instance_ids).values() if instance_ids else ()

    def _ours(self, instance: Described) -> NodeIdentity | None:
        cluster = self._cluster_of(instance)
        if cluster is None:
            return None
        return NodeIdentity(
            cluster=cluster,
            name=instance.name,
            instance_id=instance.instance_id,
            instance_type=instance.instance_type,
            availability_zone=instance.availability_zone,
        )

    def _cluster_of(self, instance: Described) -> str | None:
        tagged = instance.tags.get(CLUSTER_TAG)
        if tagged in self.clusters:
            return tagged
        group = instance.tags.get(GROUP_TAG)
        owners = (name for name, each in self.clusters.items() if group in each.auto_scaling_groups)
        return next(owners, None)
