"""Release: the same node is well again, so what isolate did to it is taken back, and only that.

The taint of another incident stays, and so does a cordon that was there before ours: a person's, or another
controller's. It must not know how the node was mended.
"""

from functions.acts.act import ActContext
from functions.ports.kubernetes import CORDONED_BY, INCIDENT, ISOLATED_TAINT, Connect, Node, NodeChange
from policies.contract.decisions import RungReport


class ReleaseNode:
    """The act. Doing it again changes nothing."""

    def __init__(self, *, connect: Connect) -> None:
        """Take the port."""
        self._connect = connect

    def advance(self, context: ActContext) -> RungReport:
        """Lift our taint and our cordon. Outcome: released_node, still_cordoned where somebody else wants it so."""
        with self._connect(context.cluster) as cluster:
            node = cluster.node_of(context.node.instance_id, context.node.name)
            if node is None:
                return context.failed(f"the node of {context.node.instance_id} is gone, so that it cannot be let go")
            change = _undone(node, context.incident)
            if change is not None:
                cluster.change_node(node, change)
            stays = node.unschedulable and (change is None or change.unschedulable is None)
        return context.done(released_node=node.name, **({"still_cordoned": True} if stays else {}))


def _undone(node: Node, incident: str) -> NodeChange | None:
    """Return what takes *incident*'s isolation back; None when nothing of it is there."""
    taints = tuple(taint for taint in node.taints if (taint.key, taint.value) != (ISOLATED_TAINT, incident))
    ours = {name: None for name in (INCIDENT, CORDONED_BY) if node.annotations.get(name) == incident}
    if taints == node.taints and not ours:
        return None
    others = any(taint.key == ISOLATED_TAINT for taint in taints)
    uncordon = node.annotations.get(CORDONED_BY) == incident and not others
    return NodeChange(unschedulable=False if uncordon else None, taints=taints, annotations=ours)
