"""Suspend a PyTorchJob: ask once, then wait until every pod of it is gone, by uid.

The pods of a gang are never evicted: the controller would recreate them. A pod on a dead node cannot finish leaving, so
it is deleted by force, but only when EC2 says that its machine is terminated or stopped: until then two copies of one
rank might write. A job that somebody else suspended is left to them.
"""

from collections.abc import Iterable, Sequence

from functions.acts.act import ActContext
from functions.acts.support import Pace, text_of
from functions.kubernetes.jobs import find_job, terminal, why_of_another
from functions.ports.instances import GONE, Instances
from functions.ports.kubernetes import (
    CHECKPOINTS,
    RESUMED_BY,
    SUSPENDED_BY,
    Connect,
    Job,
    JobChange,
    KubernetesCluster,
    Pod,
)
from policies.contract.decisions import RungReport
from policies.contract.times import format_time


class SuspendJob:
    """The act."""

    def __init__(self, *, connect: Connect, instances: Instances, pace: Pace) -> None:
        """Take the ports."""
        self._connect = connect
        self._instances = instances
        self._pace = pace

    def advance(self, context: ActContext) -> RungReport:
        """Suspend unless it is; done once no pod is left. Outcome: suspended_at, checkpoints (where they lie)."""
        with self._connect(context.cluster) as cluster:
            return self._suspend(context, cluster)

    def _suspend(self, context: ActContext, cluster: KubernetesCluster) -> RungReport:
        job = find_job(context, cluster)
        if isinstance(job, str):
            return context.failed(job)
        where = job.annotations.get(CHECKPOINTS) or (context.job.checkpoint if context.job else None) or ""
        since = text_of(context.progress, "suspended_at") or format_time(context.now)
        facts = {"suspended_at": since, "checkpoints": where}
        if job.finished or (job.queue and not job.suspended):
            return context.failed(terminal(job) if job.finished else _held_by_kueue(job), checkpoints=where)
        theirs = self._why_theirs(context, cluster, job) or why_of_another(context, cluster, job)
        if theirs:
            return context.done(**facts, stood_aside=theirs)
        if not job.suspended:
            change = JobChange(suspended=True, annotations={SUSPENDED_BY: context.incident, RESUMED_BY: None})
            cluster.change_job(job, change)
        pods = cluster.pods_of(job)
        if not pods and job.suspended:
            return context.done(**facts)
        for pod in self._on_dead_machines(cluster, pods):
            cluster.delete_pod(pod)
        return self._pace.wait(context, _what_is_left(job, pods), **facts)

    def _why_theirs(self, context: ActContext, cluster: KubernetesCluster, job: Job) -> str:
        """Return why the job is left to whoever suspended it, or made it after the one that was hit; else nothing."""
        if job.suspended:
            return "" if SUSPENDED_BY in job.annotations else "somebody else had suspended the job"
        if job.created_at is None or job.created_at <= context.opened_at:
            return ""
        node = cluster.node_of(context.node.instance_id, context.node.name)
        if node and any(pod.node == node.name for pod in cluster.pods_of(job)):
            return ""
        return "the job was made anew since the fault, on other nodes"

    def _on_dead_machines(self, cluster: KubernetesCluster, pods: Sequence[Pod]) -> Iterable[Pod]:
        leaving = {pod.node for pod in pods if pod.leaving and pod.node}
        nodes = [node for node in map(cluster.node_named, sorted(leaving)) if node and not node.ready]
        known = self._instances.describe([node.instance_id for node in nodes if node.instance_id]) if nodes else {}
        dead = {
            node.name
            for node in nodes
            if node.instance_id and (node.instance_id not in known or known[node.instance_id].state in GONE)
        }
        return [pod for pod in pods if pod.leaving and pod.node in dead]


def _held_by_kueue(job: Job) -> str:
    return (
        f"job {job.name} is admitted by Kueue (queue {job.queue}), which starts again what is suspended by others;"
        " set spec.active of its Workload to false, and to true when the node is replaced"
    )


def _what_is_left(job: Job, pods: Sequence[Pod]) -> str:
    if not pods:
        return f"job {job.name} was just suspended"
    names = ", ".join(sorted(pod.name for pod in pods)[:3])
    return f"{len(pods)} pods of job {job.name} are still there ({names}{', …' if len(pods) > 3 else ''})"  # noqa: PLR2004 - as many as are named
