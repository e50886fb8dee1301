"""A Kubernetes cluster in memory: resourceVersions, a controller that follows suspend, pods that take their time."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import count

from functions.ports.kubernetes import ConflictError, Job, JobChange, JobName, Node, NodeChange, Pod
from functions.settings import ClusterSettings


@dataclass
class MemoryCluster:
    """``changes`` remembers every write that happened, in order, as (object's name, change).

    Pods on ``dead_nodes`` never finish leaving by themselves.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    jobs: dict[JobName, Job] = field(default_factory=dict)
    templates: dict[JobName, dict[str, str]] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    dead_nodes: set[str] = field(default_factory=set)
    changes: list[tuple[str, NodeChange | JobChange]] = field(default_factory=list)
    forced: list[str] = field(default_factory=list)
    _versions: "count[int]" = field(default_factory=lambda: count(100))

    def connect(self, cluster: ClusterSettings) -> "AbstractContextManager[MemoryCluster]":  # noqa: ARG002 - the port's
        """Be the cluster of every name."""
        return nullcontext(self)

    def start_pods(self, name: JobName, nodes: Sequence[str]) -> None:
        """Let the job's controller create one pod a node."""
        for at, node in enumerate(nodes):
            uid = f"{name}-{next(self._versions)}"
            self.pods[uid] = Pod(name.namespace, f"{name.name}-worker-{at}", uid, node)

    def settle(self) -> None:
        """Let leaving pods of living nodes be gone."""
        self.pods = {uid: pod for uid, pod in self.pods.items() if not pod.leaving or pod.node in self.dead_nodes}

    def node_of(self, instance_id: str, name: str = "") -> Node | None:  # noqa: ARG002 - the port's signature
        """See the port."""
        return next((node for node in self.nodes.values() if node.instance_id == instance_id), None)

    def node_named(self, name: str) -> Node | None:
        """See the port."""
        return self.nodes.get(name)

    def change_node(self, node: Node, change: NodeChange) -> None:
        """See the port."""
        current = self.nodes.get(node.name)
        if current is None or current.resource_version != node.resource_version:
            raise ConflictError(f"node {node.name} changed meanwhile.")
        self.nodes[node.name] = replace(
            current,
            resource_version=str(next(self._versions)),
            unschedulable=current.unschedulable if change.unschedulable is None else change.unschedulable,
            taints=current.taints if change.taints is None else change.taints,
            annotations=_merged(current.annotations, change.annotations),
        )
        self.changes.append((node.name, change))

    def job(self, name: JobName) -> Job | None:
        """See the port."""
        return self.jobs.get(name)

    def change_job(self, job: Job, change: JobChange) -> None:
        """See the port."""
        current = self.jobs.get(job.name)
        if current is None or current.resource_version != job.resource_version:
            raise ConflictError(f"job {job.name} changed meanwhile.")
        self.jobs[job.name] = replace(
            current,
            resource_version=str(next(self._versions)),
            suspended=change.suspended,
            annotations=_merged(current.annotations, change.annotations),
        )
        self.templates[job.name] = _merged(self.templates.get(job.name, {}), change.template)
        self.changes.append((str(job.name), change))
        if change.suspended:
            self.pods = {uid: replace(pod, leaving=True) for uid, pod in self.pods.items()}

    def pods_of(self, job: Job) -> Sequence[Pod]:
        """See the port."""
        return [pod for pod in self.pods.values() if pod.name.startswith(f"{job.name.name}-")]

    def jobs_on(self, node: Node) -> Sequence[Job]:
        """See the port."""
        found = (job for job in self.jobs.values() if any(pod.node == node.name for pod in self.pods_of(job)))
        return sorted(found, key=lambda job: str(job.name))

    def delete_pod(self, pod: Pod) -> None:
        """See the port."""
        if self.pods.pop(pod.uid, None):
            self.forced.append(pod.name)


def _merged(old: object, new: object) -> dict[str, str]:
    assert isinstance(old, dict)
    assert isinstance(new, dict)
    return {key: value for key, value in {**old, **new}.items() if value is not None}
