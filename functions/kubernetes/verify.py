"""Verify the successor of a replaced node, then let pods on it; where a node was mended, verify that one.

Proven are: EC2's status checks, a Ready node object with that very instance behind it, all GPUs offered, and an agent
heard since the launch. Until then the startup taint keeps pods away; lifting it is the last thing done. What a
healthy boot shows only later is waited for; what a healthy boot never shows fails at once.
"""

from collections.abc import Iterator

from functions.acts.act import ActContext
from functions.acts.support import Pace, text_of
from functions.kubernetes.verify_same import VerifySameNode
from functions.ports.heartbeats import Heartbeats
from functions.ports.instances import Checks, Instance, Instances
from functions.ports.kubernetes import ISOLATED_TAINT, UNVERIFIED_TAINT, Connect, KubernetesCluster, Node, NodeChange
from policies.contract.decisions import RungReport


class VerifyNode:
    """The act."""

    def __init__(self, *, connect: Connect, instances: Instances, heartbeats: Heartbeats, pace: Pace) -> None:
        """Take the ports."""
        self._connect = connect
        self._instances = instances
        self._heartbeats = heartbeats
        self._pace = pace
        self._same = VerifySameNode(connect=connect, instances=instances, pace=pace)

    def advance(self, context: ActContext) -> RungReport:
        """Look at each proof in the order in which a boot brings them. Outcome: verified_node."""
        new = text_of(context.facts, "new_instance")
        if not new and "reset_gpus" in context.facts:
            return self._same.advance(context)
        instance = self._instances.describe([new]).get(new) if new else None
        if instance is None or instance.state not in {"pending", "running"}:
            state = instance.state if instance else "unknown to EC2"
            return context.failed(f"the replacement {new or '(none was named)'} is {state}")
        checks = self._instances.checks(new)
        broken = _broken(checks)
        if broken:
            return context.failed(f"the replacement {new} is not healthy: {broken}")
        with self._connect(context.cluster) as cluster:
            return self._admit(context, cluster, instance, checks)

    def _admit(
        self, context: ActContext, cluster: KubernetesCluster, instance: Instance, checks: Checks | None
    ) -> RungReport:
        new = instance.id
        node = cluster.node_of(new)
        missing = next(self._missing(context, instance, checks, node), "")
        if missing or node is None:
            return self._pace.wait(context, f"the replacement {new}: {missing}")
        wanted, offered = context.cluster.gpus_per_node, node.allocatable.get(context.cluster.gpu_resource, 0)
        if offered != wanted:
            return context.failed(f"the replacement {new} offers {offered} of {wanted} {context.cluster.gpu_resource}")
        if any(taint.key == UNVERIFIED_TAINT for taint in node.taints):
            kept = tuple(taint for taint in node.taints if taint.key != UNVERIFIED_TAINT)
            cluster.change_node(node, NodeChange(taints=kept))
        return context.done(verified_node=node.name)

    def _missing(
        self, context: ActContext, instance: Instance, checks: Checks | None, node: Node | None
    ) -> Iterator[str]:
        """Name what a healthy boot has yet to bring, in its order."""
        if instance.state != "running" or checks is None or (checks.instance, checks.system) != ("ok", "ok"):
            yield "EC2's status checks have not passed yet"
        if node is None:
            yield "it has not joined the cluster yet"
            return
        if not node.ready:
            yield f"node {node.name} is not Ready yet"
        if context.cluster.gpus_per_node and not node.allocatable.get(context.cluster.gpu_resource):
            yield f"node {node.name} offers no {context.cluster.gpu_resource} yet"
        seen = self._heartbeats.last_seen(context.cluster.name, instance.id)
        if seen is None or seen < instance.launched_at:
            yield "its agent has not been heard yet"
        if any(taint.key == ISOLATED_TAINT for taint in node.taints):
            yield f"node {node.name} is isolated for another incident"


def _broken(checks: Checks | None) -> str:
    results = {"instance": checks.instance, "system": checks.system} if checks else {}
    bad = [name for name, result in results.items() if result == "impaired"]
    return f"EC2's {' and '.join(bad)} check says impaired" if bad else ""
