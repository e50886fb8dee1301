"""Isolate: cordon and taint a node, so that nothing new lands on it.

Its pods stay: gang jobs are suspended, not evicted. Where the incident knows no job, the one whose pods are on the node
is told, so that it can be. A node that is only said to be silent is left alone unless a second witness agrees
(`witness.py`). It must not know why else.
"""

from typing import Any

from functions.acts.act import ActContext
from functions.acts.silence import is_only_silent
from functions.kubernetes.witness import Witness
from functions.ports.kubernetes import (
    CHECKPOINTS,
    CORDONED_BY,
    INCIDENT,
    ISOLATED_TAINT,
    Connect,
    KubernetesCluster,
    Node,
    NodeChange,
    Taint,
)
from policies.contract.decisions import RungReport
from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator
from policies.coordination.learning import JOB


class Isolate:
    """The act. Doing it again changes nothing."""

    def __init__(self, *, connect: Connect, witness: Witness) -> None:
        """Take the port, and who says whether a silent node is dead."""
        self._connect = connect
        self._witness = witness

    def advance(self, context: ActContext) -> RungReport:
        """Cordon and taint the node of the incident's instance; a node that is gone needs neither.

        Outcome: isolated, and job (as a `JobRef`) where the incident has none and one job's pods are here; of a silent
        node dead_by (who agrees) or recovered (why nothing was done).
        """
        with self._connect(context.cluster) as cluster:
            node = cluster.node_of(context.node.instance_id, context.node.name)
            facts: dict[str, Any] = {}
            if is_only_silent(context.findings):
                heard = self._witness.hear(context, node)
                if heard.report:
                    return heard.report
                facts = {"dead_by": heard.dead_by}
            if node is None:
                return context.done(isolated="the node is already gone", **facts)
            _cordon(cluster, node, context.incident)
            return context.done(isolated=node.name, **facts, **_job_here(context, cluster, node))


def _cordon(cluster: KubernetesCluster, node: Node, incident: str) -> None:
    taint = Taint(ISOLATED_TAINT, incident)
    if node.unschedulable and taint in node.taints:
        return
    others = tuple(each for each in node.taints if (each.key, each.effect) != (taint.key, taint.effect))
    # Who cordons first says so: it alone may take the cordon back. One that stands without a name is a person's.
    ours = {CORDONED_BY: incident} if not node.unschedulable or CORDONED_BY in node.annotations else {}
    change = NodeChange(unschedulable=True, taints=(*others, taint), annotations={INCIDENT: incident, **ours})
    cluster.change_node(node, change)


def _job_here(context: ActContext, cluster: KubernetesCluster, node: Node) -> dict[str, Any]:
    """Return the one job whose pods are on *node*; of several nobody can say which one the fault stops."""
    if context.job is not None:
        return {}
    jobs = cluster.jobs_on(node)
    if len(jobs) != 1:
        return {}
    [job] = jobs
    known = JobRef(id=str(job.name), orchestrator=Orchestrator.EKS, checkpoint=job.annotations.get(CHECKPOINTS))
    return {JOB: known.model_dump(mode="json", exclude_none=True)}
