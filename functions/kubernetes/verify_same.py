"""Verify a node that was mended instead of replaced: the very instance, Ready, with all its GPUs offered again.

Its agent has just said that the GPUs answer; what is proven here is that the cluster sees it too. A device plugin may
need a while after a reset, and some mark a GPU that failed for as long as they live: past the wait it has failed, with
what to do. Our own isolation stays on until `release.py` lifts it. It must not know how the node was mended.
"""

from datetime import timedelta

from functions.acts.act import ActContext
from functions.acts.support import Pace
from functions.ports.instances import Checks, Instances
from functions.ports.kubernetes import Connect, Node
from policies.contract.decisions import RungReport

# The kubelet tells its status every 10 s, a device plugin looks at health events as they come.
_PATIENCE = timedelta(minutes=3)


class VerifySameNode:
    """The act, where a node was kept."""

    def __init__(self, *, connect: Connect, instances: Instances, pace: Pace) -> None:
        """Take the ports."""
        self._connect = connect
        self._instances = instances
        self._pace = pace

    def advance(self, context: ActContext) -> RungReport:
        """Look at instance and node. Outcome: verified_node."""
        same = context.node.instance_id
        instance = self._instances.describe([same]).get(same)
        if instance is None or instance.state != "running":
            return context.failed(f"{same} is {instance.state if instance else 'unknown to EC2'}")
        broken = _broken(self._instances.checks(same))
        if broken:
            return context.failed(f"{same} is not healthy: {broken}")
        with self._connect(context.cluster) as cluster:
            node = cluster.node_of(same, context.node.name)
        missing = _missing(context, node)
        if not missing and node is not None:
            return context.done(verified_node=node.name)
        if context.now - context.intended_at >= _PATIENCE:
            return context.failed(f"{same}: {missing}, still so after {_PATIENCE.total_seconds():.0f} s")
        return self._pace.wait(context, f"{same}: {missing}")


def _missing(context: ActContext, node: Node | None) -> str:
    if node is None:
        return "there is no node object of it"
    if not node.ready:
        return f"node {node.name} is not Ready"
    wanted, offered = context.cluster.gpus_per_node, node.allocatable.get(context.cluster.gpu_resource, 0)
    if offered != wanted:
        return f"it offers {offered} of {wanted} {context.cluster.gpu_resource} (the device plugin may want a restart)"
    return ""


def _broken(checks: Checks | None) -> str:
    results = {"instance": checks.instance, "system": checks.system} if checks else {}
    bad = [name for name, result in results.items() if result == "impaired"]
    return f"EC2's {' and '.join(bad)} check says impaired" if bad else ""
