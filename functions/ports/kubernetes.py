"""A Kubernetes cluster, as far as Relight cordons nodes and stops and starts training jobs.

Every write carries the resourceVersion that was read: who changed the object meanwhile makes it fail as a conflict, and
the act looks again. It must not know HTTP. The twin is `functions/twins/kubernetes.py`.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from functions.settings import ClusterSettings
from policies.contract.errors import DependencyError

ISOLATED_TAINT = "relight.dev/isolated"
UNVERIFIED_TAINT = "relight.dev/unverified"
INCIDENT = "relight.dev/incident"
CORDONED_BY = "relight.dev/cordoned-by"  # the incident that cordoned a node which nobody else had cordoned before
CHECKPOINTS = "relight.dev/checkpoints"  # set by whoever writes the job: s3://bucket/prefix
SUSPENDED_BY = "relight.dev/suspended-by"
RESUMED_BY = "relight.dev/resumed-by"
RESUME_STEP = "relight.dev/resume-step"
RESUME_FROM = "relight.dev/resume-from"  # on the pod template, read by the job through the Downward API


class ConflictError(DependencyError):
    """Somebody else changed the object since it was read: read it again."""


@dataclass(frozen=True)
class Taint:
    """A node's taint."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True)
class Node:
    """A node object. ``instance_id`` comes from its providerID; ``allocatable`` counts whole devices only."""

    name: str
    resource_version: str
    instance_id: str
    ready: bool = False
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    allocatable: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pod:
    """A pod of a job. ``leaving``: it was deleted and is shutting down."""

    namespace: str
    name: str
    uid: str
    node: str = ""
    leaving: bool = False


@dataclass(frozen=True)
class JobName:
    """Where a job is."""

    namespace: str
    name: str

    @classmethod
    def parse(cls, job_id: str) -> "JobName":
        """Return the place of ``namespace/name``; a bare name is in ``default``."""
        namespace, slash, name = job_id.partition("/")
        return cls(namespace, name) if slash else cls("default", job_id)

    def __str__(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Job:
    """A training job. ``finished`` is ``Succeeded``, ``Failed`` or empty; ``replicas`` are its kinds of pods.

    ``created_at`` tells it from an earlier namesake; ``queue`` is the Kueue queue that admits it, or empty.
    """

    name: JobName
    uid: str
    resource_version: str
    suspended: bool = False
    finished: Literal["", "Succeeded", "Failed"] = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    replicas: tuple[str, ...] = ()
    created_at: datetime | None = None
    queue: str = ""


@dataclass(frozen=True)
class NodeChange:
    """What to make of a node; None leaves a part as it is. An annotation of None is removed."""

    unschedulable: bool | None = None
    taints: tuple[Taint, ...] | None = None
    annotations: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class JobChange:
    """What to make of a job, in one write. ``template`` annotates the pods to come, of every kind of replica."""

    suspended: bool
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    template: Mapping[str, str | None] = field(default_factory=dict)


class KubernetesCluster(Protocol):
    """One cluster, for one invocation. ConflictError as above; other failures raise DependencyError."""

    def node_of(self, instance_id: str, name: str = "") -> Node | None:
        """Return the node on this instance; *name* is where to look first."""
        ...

    def node_named(self, name: str) -> Node | None:
        """Return the node object of this name."""
        ...

    def change_node(self, node: Node, change: NodeChange) -> None:
        """Patch the node as it was read."""
        ...

    def job(self, name: JobName) -> Job | None:
        """Return the job."""
        ...

    def change_job(self, job: Job, change: JobChange) -> None:
        """Patch the job as it was read."""
        ...

    def pods_of(self, job: Job) -> Sequence[Pod]:
        """Return the pods that this very job (by uid) owns and the API still has."""
        ...

    def jobs_on(self, node: Node) -> Sequence[Job]:
        """Return the training jobs that have a pod on the node, by name."""
        ...

    def delete_pod(self, pod: Pod) -> None:
        """Delete this very pod (by uid) at once, without waiting for its node. Gone already: nothing happens."""
        ...


class Connect(Protocol):
    """Opens a cluster for one invocation, since its token is good for a minute, and closes it after."""

    def __call__(self, cluster: ClusterSettings) -> AbstractContextManager[KubernetesCluster]:
        """Return the cluster to enter; DependencyError when it cannot be reached."""
        ...
