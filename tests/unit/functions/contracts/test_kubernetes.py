"""What every cluster does: the twin, and lightkube against a Kubernetes API on loopback."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from lightkube import Client, KubeConfig

from functions.adapters.kubernetes_objects import QUEUE_LABEL
from functions.adapters.lightkube_cluster import LightkubeCluster
from functions.ports.kubernetes import (
    RESUME_FROM,
    SUSPENDED_BY,
    ConflictError,
    Job,
    JobChange,
    JobName,
    KubernetesCluster,
    Node,
    NodeChange,
    Pod,
    Taint,
)
from functions.twins.kubernetes import MemoryCluster
from local.kubernetes.cluster import KubernetesCluster as LocalCluster
from local.kubernetes.controllers.world import Timings
from local.kubernetes.pods import with_defaults
from local.kubernetes.resources import NODES, PODS, PYTORCH_JOBS
from policies.contract.errors import DependencyError
from tests.tools.sources import eventually

JOB = JobName("ml", "run")
# A node is not ready only long after it went: a busy machine's pause is no reason for somebody else to write on it.
QUICK = Timings(pod_starts=0.02, pod_stops=0.02, not_ready_after=60)


class Machines:
    def __init__(self) -> None:
        self.off: set[str] = set()

    def is_powered(self, node: str) -> bool:
        return node not in self.off

    def exists(self, provider_id: str) -> bool:
        return bool(provider_id)


@dataclass
class Setting:
    cluster: KubernetesCluster
    settle: Callable[[Callable[[], bool]], None]  # let happen what leads to this
    power_off: Callable[[str], None]
    template: Callable[[], dict[str, str]]


@pytest.fixture(params=["twin", "lightkube"])
def setting(request: pytest.FixtureRequest) -> Iterator[Setting]:
    if request.param == "twin":
        yield _twin()
        return
    machines = Machines()
    with LocalCluster(machines, timings=QUICK) as local:
        _seed(local)
        config = {
            "clusters": [{"name": "c", "cluster": {"server": local.url}}],
            "users": [{"name": "u", "user": {"token": local.admin_token}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        with Client(KubeConfig.from_dict(config), trust_env=False) as client:
            cluster = LightkubeCluster(client)
            eventually(lambda: len(_pods(cluster)) == 2 and all(pod.node for pod in _pods(cluster)))

            def template() -> dict[str, str]:
                job = local.store.get(PYTORCH_JOBS, JOB.namespace, JOB.name)
                found = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"]
                return dict(found)

            yield Setting(cluster, eventually, machines.off.add, template)


def test_the_jobs_on_a_node_are_those_whose_own_pods_are_there(setting: Setting) -> None:
    node = setting.cluster.node_named("n0")
    assert node
    assert [job.name for job in setting.cluster.jobs_on(node)] == [JOB]
    assert setting.cluster.jobs_on(replace(node, name="elsewhere")) == []


def _twin() -> Setting:
    twin = MemoryCluster()
    for name in ("n0", "n1"):
        twin.nodes[name] = Node(name, "1", f"i-{name}", ready=True, allocatable={"nvidia.com/gpu": 8})
    twin.jobs[JOB] = Job(
        JOB, "uid-1", "1", replicas=("Worker",), created_at=datetime.now(UTC).replace(microsecond=0), queue="team-a"
    )
    twin.start_pods(JOB, ["n0", "n1"])

    def settle(holds: Callable[[], bool]) -> None:
        twin.settle()
        assert holds()

    return Setting(twin, settle, twin.dead_nodes.add, lambda: twin.templates[JOB])


def _seed(local: LocalCluster) -> None:
    for name in ("n0", "n1"):
        node = {
            "metadata": {"name": name},
            "spec": {"providerID": f"aws:///us-east-1a/i-{name}"},
            "status": {"allocatable": {"nvidia.com/gpu": "8", "memory": "2Ti"}},
        }
        local.store.create(NODES, "", node)
        eventually(lambda name=name: _is_ready(local, name))  # type: ignore[misc]
    template = {
        "metadata": {"annotations": {}},
        "spec": {"containers": [{"name": "pytorch", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
    }
    spec = {
        "runPolicy": {},
        "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "restartPolicy": "OnFailure", "template": template}},
    }
    meta = {"name": JOB.name, "labels": {QUEUE_LABEL: "team-a"}}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "spec": spec}
    local.store.create(PYTORCH_JOBS, JOB.namespace, job)
    labels = {"training.kubeflow.org/job-name": JOB.name}
    stranger = {"metadata": {"name": "stranger", "labels": labels}, "spec": {"containers": [{"name": "other"}]}}
    local.store.create(PODS, JOB.namespace, with_defaults(stranger))


def _is_ready(local: LocalCluster, name: str) -> bool:
    conditions = local.store.get(NODES, "", name).get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _pods(cluster: KubernetesCluster) -> Sequence[Pod]:
    job = cluster.job(JOB)
    assert job is not None
    return cluster.pods_of(job)


def _node(cluster: KubernetesCluster, instance_id: str = "i-n0") -> Node:
    node = cluster.node_of(instance_id)
    assert node is not None
    return node


def _job(cluster: KubernetesCluster) -> Job:
    job = cluster.job(JOB)
    assert job is not None
    return job


def _change_job(cluster: KubernetesCluster, change: JobChange) -> Job:
    """Change the job as it stands, and return what was changed; its controller writes beside us, so look again."""
    for _ in range(50):
        read = _job(cluster)
        try:
            cluster.change_job(read, change)
        except ConflictError:
            continue
        return read
    raise AssertionError("somebody else changed it each time")


def test_a_node_is_found_by_its_instance_whatever_its_name(setting: Setting) -> None:
    node = _node(setting.cluster)
    assert (node.name, node.instance_id, node.ready) == ("n0", "i-n0", True)
    assert node.allocatable["nvidia.com/gpu"] == 8
    assert setting.cluster.node_of("i-n1", "n0") == setting.cluster.node_named("n1")
    assert setting.cluster.node_of("i-none", "n0") is None
    assert setting.cluster.node_named("none") is None


def test_a_node_is_cordoned_tainted_and_annotated_in_one_change(setting: Setting) -> None:
    taints = (Taint("relight.dev/isolated", "x"),)
    setting.cluster.change_node(_node(setting.cluster), NodeChange(True, taints, {"relight.dev/incident": "x"}))
    node = _node(setting.cluster)
    assert (node.unschedulable, node.taints) == (True, taints)
    assert node.annotations["relight.dev/incident"] == "x"
    setting.cluster.change_node(node, NodeChange(taints=(), annotations={"relight.dev/incident": None}))
    node = _node(setting.cluster)
    assert (node.unschedulable, node.taints, "relight.dev/incident" in node.annotations) == (True, (), False)


def test_a_change_of_what_changed_meanwhile_is_a_conflict_and_changes_nothing(setting: Setting) -> None:
    read = _node(setting.cluster)
    setting.cluster.change_node(read, NodeChange(annotations={"relight.dev/incident": "first"}))
    with pytest.raises(ConflictError):
        setting.cluster.change_node(read, NodeChange(True, (Taint("late"),)))
    assert not _node(setting.cluster).unschedulable
    job = _change_job(setting.cluster, JobChange(suspended=True))
    with pytest.raises(ConflictError):
        setting.cluster.change_job(job, JobChange(suspended=False))
    assert _job(setting.cluster).suspended


def test_a_suspended_job_keeps_its_annotations_and_loses_its_pods(setting: Setting) -> None:
    first = {pod.uid for pod in _pods(setting.cluster)}
    assert len(first) == 2
    _change_job(setting.cluster, JobChange(suspended=True, annotations={SUSPENDED_BY: "x"}))
    setting.settle(lambda: not _pods(setting.cluster))
    job = _job(setting.cluster)
    assert (job.suspended, job.annotations[SUSPENDED_BY], job.finished) == (True, "x", "")


def test_a_resumed_job_tells_its_pods_where_to_resume(setting: Setting) -> None:
    change = JobChange(suspended=False, annotations={SUSPENDED_BY: None}, template={RESUME_FROM: "s3://b/step-20"})
    _change_job(setting.cluster, change)
    assert SUSPENDED_BY not in _job(setting.cluster).annotations
    assert setting.template() == {RESUME_FROM: "s3://b/step-20"}


def test_a_pod_on_a_dead_node_stays_until_it_is_deleted_by_force(setting: Setting) -> None:
    on_n0 = next(pod for pod in _pods(setting.cluster) if pod.node == "n0")
    setting.power_off("n0")
    _change_job(setting.cluster, JobChange(suspended=True))
    setting.settle(lambda: [(pod.uid, pod.leaving) for pod in _pods(setting.cluster)] == [(on_n0.uid, True)])
    left = _pods(setting.cluster)
    setting.cluster.delete_pod(left[0])
    assert list(_pods(setting.cluster)) == []
    setting.cluster.delete_pod(left[0])


def test_a_job_tells_when_it_was_made_and_which_queue_admits_it(setting: Setting) -> None:
    job = _job(setting.cluster)
    assert job.queue == "team-a"
    assert job.created_at is not None
    assert abs(datetime.now(UTC) - job.created_at) < timedelta(minutes=1)


def test_there_is_no_job_of_another_name(setting: Setting) -> None:
    assert setting.cluster.job(JobName("ml", "other")) is None


@pytest.mark.parametrize(("text", "name"), [("ml/run", JOB), ("run", JobName("default", "run"))])
def test_a_jobs_place_is_read_from_its_id(text: str, name: JobName) -> None:
    assert JobName.parse(text) == name
    assert JobName.parse(str(name)) == name


def test_a_cluster_that_does_not_answer_is_a_dependency_that_failed() -> None:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    with (
        Client(KubeConfig.from_dict(config), trust_env=False) as client,
        pytest.raises(DependencyError, match="reachable from the function"),
    ):
        LightkubeCluster(client).node_of("i-n0")
