"""The pods of a training job as its ranks see each other: all there, or none of any use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from local.kubernetes.controllers.kubelet import Kubelets, restarts_of
from local.kubernetes.controllers.pytorchjob import INDEX_LABEL, TYPE_LABEL, pods_of
from local.kubernetes.errors import StatusError
from local.kubernetes.objects import Obj, is_terminating, name_of
from local.kubernetes.resources import PYTORCH_JOBS
from local.kubernetes.store import Store


@dataclass(frozen=True, slots=True)
class Member:
    """One pod of the gang. `rank` is its place among the nodes, the master's is 0.

    A container that was started again (`restarts`) is another process, so another member: its group forms anew.
    """

    name: str
    uid: str
    node: str
    rank: int
    annotations: Mapping[str, str] = field(default_factory=dict, compare=False)
    restarts: int = 0


class Gang(Protocol):
    """All pods of one job."""

    @property
    def size(self) -> int:
        """How many pods the job has when it is whole."""

    def members(self) -> Sequence[Member]:
        """The members by rank; empty unless all of them run and none is on its way out."""

    def crash(self, member: Member, exit_code: int) -> None:
        """The main process of this member ends with this code."""


class KubernetesGang:
    """The gang of a PyTorchJob."""

    def __init__(self, store: Store, kubelets: Kubelets, namespace: str, name: str) -> None:
        self._store = store
        self._kubelets = kubelets
        self._namespace = namespace
        self._name = name

    @property
    def size(self) -> int:
        specs = self._store.get(PYTORCH_JOBS, self._namespace, self._name)["spec"]["pytorchReplicaSpecs"]
        return sum(int(spec.get("replicas", 1)) for spec in specs.values())

    def members(self) -> Sequence[Member]:
        try:
            pods = pods_of(self._store, self._store.get(PYTORCH_JOBS, self._namespace, self._name))
        except StatusError:
            return ()
        running = [pod for pod in pods if pod["status"]["phase"] == "Running" and not is_terminating(pod)]
        return _by_rank(running) if len(running) == self.size else ()

    def crash(self, member: Member, exit_code: int) -> None:
        self._kubelets.fail(self._namespace, member.name, exit_code)


def _by_rank(pods: list[Obj]) -> tuple[Member, ...]:
    # The operator gives the master rank 0 and the workers the ranks after it.
    labels = [pod["metadata"]["labels"] for pod in pods]
    masters = sum(label[TYPE_LABEL] == "master" for label in labels)
    members = [
        Member(
            name_of(pod),
            pod["metadata"]["uid"],
            pod["spec"]["nodeName"],
            int(label[INDEX_LABEL]) + (0 if label[TYPE_LABEL] == "master" else masters),
            pod["metadata"].get("annotations", {}),
            restarts_of(pod),
        )
        for pod, label in zip(pods, labels, strict=True)
    ]
    return tuple(sorted(members, key=lambda member: member.rank))
