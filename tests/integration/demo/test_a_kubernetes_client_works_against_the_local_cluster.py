"""lightkube, the client of our own executors, over real sockets."""

import threading
from collections.abc import Iterator

import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.core_v1 import Container, NodeSpec, NodeStatus, PodSpec, ResourceRequirements
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, Pod
from lightkube.types import PatchType

from local.kubernetes.cluster import KubernetesCluster
from local.kubernetes.controllers.world import Timings

PyTorchJob = create_namespaced_resource("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs")
QUICK = Timings(pod_starts=0.05, pod_stops=0.05, not_ready_after=0.2)


class AlwaysOn:
    def is_powered(self, node: str) -> bool:
        return bool(node)

    def exists(self, provider_id: str) -> bool:
        return bool(provider_id)


@pytest.fixture
def cluster() -> Iterator[KubernetesCluster]:
    with KubernetesCluster(AlwaysOn(), timings=QUICK) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: KubernetesCluster) -> Iterator[Client]:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": cluster.url}}],
        "users": [{"name": "u", "user": {"token": cluster.admin_token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    with Client(KubeConfig.from_dict(config), namespace="ml", trust_env=False) as client:
        yield client


def add_node(client: Client, name: str) -> None:
    spec = NodeSpec(providerID=f"aws:///us-east-1a/i-{name}")
    client.create(Node(metadata=ObjectMeta(name=name), spec=spec))
    status = NodeStatus(allocatable={"nvidia.com/gpu": "8"})
    client.patch(Node.Status, name, {"status": status.to_dict()}, patch_type=PatchType.STRATEGIC)


def wait_for_pods(client: Client, count: int, phase: str) -> set[str]:
    """The uids of the pods, as soon as there are so many and all in this phase."""
    pods: list[Pod] = []
    for _ in range(3000):
        pods = list(client.list(Pod, labels={"training.kubeflow.org/job-name": "job"}))
        if len(pods) == count and all(pod.status and pod.status.phase == phase for pod in pods):
            return {str(pod.metadata.uid) for pod in pods if pod.metadata}
        threading.Event().wait(0.02)
    raise AssertionError(f"there are not {count} pods {phase}: {pods}")


def create_job(client: Client) -> None:
    limits = ResourceRequirements(limits={"nvidia.com/gpu": "8"})
    template = {"spec": PodSpec(containers=[Container(name="pytorch", image="train", resources=limits)]).to_dict()}
    replicas = {"Worker": {"replicas": 2, "restartPolicy": "OnFailure", "template": template}}
    client.create(PyTorchJob(metadata=ObjectMeta(name="job"), spec={"runPolicy": {}, "pytorchReplicaSpecs": replicas}))


def test_a_job_is_suspended_and_resumed_by_patches_with_a_precondition(client: Client) -> None:
    for name in ("n0", "n1"):
        add_node(client, name)
    create_job(client)
    first = wait_for_pods(client, 2, "Running")
    job = client.get(PyTorchJob, "job")
    assert job.metadata
    patch = {"metadata": {"resourceVersion": job.metadata.resourceVersion}, "spec": {"runPolicy": {"suspend": True}}}
    with pytest.raises(ApiError, match="has been modified") as stale:
        client.patch(PyTorchJob, "job", {**patch, "metadata": {"resourceVersion": "1"}}, patch_type=PatchType.MERGE)
    assert stale.value.status.code == 409
    client.patch(PyTorchJob, "job", patch, patch_type=PatchType.MERGE)
    wait_for_pods(client, 0, "Running")
    client.patch(PyTorchJob, "job", {"spec": {"runPolicy": {"suspend": False}}}, patch_type=PatchType.MERGE)
    assert not first & wait_for_pods(client, 2, "Running")


def test_a_watch_streams_changes_as_they_come(client: Client) -> None:
    add_node(client, "n0")
    seen: list[tuple[str, object]] = []

    def watch() -> None:
        for kind, node in client.watch(Node, fields={"metadata.name": "n0"}):
            seen.append((kind, bool(node.spec and node.spec.unschedulable)))
            if node.spec and node.spec.unschedulable:
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    client.patch(Node, "n0", {"spec": {"unschedulable": True}}, patch_type=PatchType.STRATEGIC)
    watcher.join(timeout=60)
    assert seen[-1][1] is True


def test_a_missing_object_is_an_api_error(client: Client) -> None:
    with pytest.raises(ApiError, match='nodes "none" not found') as caught:
        client.get(Node, "none")
    assert caught.value.status.code == 404
    with pytest.raises(ApiError, match='pods "none" not found'):
        client.delete(Pod, "none")
