"""Isolate: cordon and taint a node, so that nothing new lands on it.

Its pods stay: gang jobs are suspended, not evicted. It must not know why.
"""

from functions.acts.act import ActContext
from functions.ports.kubernetes import INCIDENT, ISOLATED_TAINT, Connect, NodeChange, Taint
from policies.contract.decisions import RungReport


class Isolate:
    """The act. Doing it again changes nothing."""

    def __init__(self, *, connect: Connect) -> None:
        """Take the port."""
        self._connect = connect

    def advance(self, context: ActContext) -> RungReport:
        """Cordon and taint the node of the incident's instance; a node that is gone needs neither."""
        taint = Taint(ISOLATED_TAINT, context.incident)
        with self._connect(context.cluster) as cluster:
            node = cluster.node_of(context.node.instance_id, context.node.name)
            if node is None:
                return context.done(isolated="the node is already gone")
            if not (node.unschedulable and taint in node.taints):
                others = tuple(each for each in node.taints if (each.key, each.effect) != (taint.key, taint.effect))
                change = NodeChange(
                    unschedulable=True, taints=(*others, taint), annotations={INCIDENT: context.incident}
                )
                cluster.change_node(node, change)
        return context.done(isolated=node.name)
