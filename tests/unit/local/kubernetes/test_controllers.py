"""The control loops, one turn after the other on a clock in the hand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from local.kubernetes import pods
from local.kubernetes.controllers import pytorchjob, scheduler
from local.kubernetes.controllers.kubelet import Kubelets
from local.kubernetes.controllers.nodes import UNREACHABLE, NodeLifecycle
from local.kubernetes.controllers.world import Timings
from local.kubernetes.errors import StatusError
from local.kubernetes.objects import Obj, condition, has_condition, is_terminating
from local.kubernetes.resources import BUDGETS, NODES, PODS, PYTORCH_JOBS
from local.kubernetes.store import Store


@dataclass
class Machines:
    dead: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)

    def is_powered(self, node: str) -> bool:
        return bool(node) and node not in self.dead

    def exists(self, provider_id: str) -> bool:
        return provider_id not in self.gone


class World:
    """Two nodes with eight GPUs, and a clock."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
        self.store = Store(now=lambda: self.now)
        self.machines = Machines()
        timings = Timings(pod_starts=2, pod_stops=3, not_ready_after=40)
        self.kubelets = Kubelets(self.store, self.machines, timings)
        lifecycle = NodeLifecycle(self.store, self.machines, timings)
        self.loops: list[Callable[[], None]] = [
            lifecycle.run,
            partial(pytorchjob.reconcile, self.store),
            partial(scheduler.schedule, self.store),
            self.kubelets.run,
        ]
        for name in ("n0", "n1"):
            self.add_node(name)

    def add_node(self, name: str, taints: tuple[Obj, ...] = ()) -> None:
        spec: Obj = {"providerID": f"aws:///us-east-1a/i-{name}", "taints": list(taints)}
        self.store.create(NODES, "", {"metadata": {"name": name}, "spec": spec})
        self.store.update(
            NODES,
            "",
            name,
            lambda obj: {**obj, "status": {"allocatable": {"nvidia.com/gpu": "8"}}},
            subresource="status",
        )

    def run(self, seconds: int = 1) -> None:
        for _ in range(seconds):
            for loop in self.loops:
                loop()
            self.now += timedelta(seconds=1)

    def pods(self) -> dict[str, Obj]:
        return {pod["metadata"]["name"]: pod for pod in self.store.select(PODS)[0]}

    def job(self) -> Obj:
        return self.store.get(PYTORCH_JOBS, "ml", "job")

    def suspend(self, value: bool) -> None:
        def change(job: Obj) -> Obj:
            job["spec"]["runPolicy"]["suspend"] = value
            return job

        self.store.update(PYTORCH_JOBS, "ml", "job", change)


def job_of(restart: str = "OnFailure", **policy: Any) -> Obj:
    container = {"name": "pytorch", "image": "train", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    replica = {"replicas": 1, "restartPolicy": restart, "template": {"spec": {"containers": [container]}}}
    spec = {"runPolicy": policy, "pytorchReplicaSpecs": {"Master": replica, "Worker": replica}}
    return {"metadata": {"name": "job"}, "spec": spec}


@pytest.fixture
def world() -> World:
    return World()


def test_a_job_gets_its_pods_and_runs(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    assert {name: pod["spec"]["nodeName"] for name, pod in world.pods().items()} == {
        "job-master-0": "n0",
        "job-worker-0": "n1",
    }
    assert {pod["status"]["phase"] for pod in world.pods().values()} == {"Running"}
    assert has_condition(world.job(), "Running")
    assert world.job()["status"]["replicaStatuses"] == {"Master": {"active": 1}, "Worker": {"active": 1}}


def test_suspending_deletes_the_pods_with_grace_and_resuming_makes_new_ones(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    old = {pod["metadata"]["uid"] for pod in world.pods().values()}
    world.suspend(True)
    world.run(1)
    assert all(is_terminating(pod) for pod in world.pods().values())
    world.run(4)
    assert world.pods() == {}
    assert has_condition(world.job(), "Suspended")
    assert not has_condition(world.job(), "Running")
    assert "startTime" not in world.job()["status"]
    world.suspend(False)
    world.run(4)
    assert has_condition(world.job(), "Running")
    assert not has_condition(world.job(), "Suspended")
    assert not old & {pod["metadata"]["uid"] for pod in world.pods().values()}


def test_pods_of_a_dead_node_stay_terminating_until_they_are_forced_away(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    world.machines.dead.add("n1")
    world.suspend(True)
    world.run(60)
    assert list(world.pods()) == ["job-worker-0"]
    pods.delete(world.store, "ml", "job-worker-0", grace=0)
    assert world.pods() == {}


def test_a_silent_node_is_not_ready_and_comes_back(world: World) -> None:
    world.run(1)
    world.machines.dead.add("n1")
    world.run(39)
    assert has_condition(world.store.get(NODES, "", "n1"), "Ready")
    world.run(5)
    node = world.store.get(NODES, "", "n1")
    ready = condition(node, "Ready")
    assert ready is not None
    assert ready["status"] == "Unknown"
    assert {taint["effect"] for taint in node["spec"]["taints"] if taint["key"] == UNREACHABLE} == {
        "NoSchedule",
        "NoExecute",
    }
    world.machines.dead.clear()
    world.run(1)
    node = world.store.get(NODES, "", "n1")
    assert has_condition(node, "Ready")
    assert node["spec"]["taints"] == []


def test_a_terminated_instance_takes_its_node_and_the_nodes_pods_along(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    world.suspend(True)
    world.machines.dead.add("n1")
    world.machines.gone.add("aws:///us-east-1a/i-n1")
    world.run(1)
    assert [node["metadata"]["name"] for node in world.store.select(NODES)[0]] == ["n0"]
    assert "job-worker-0" not in world.pods()


def test_nothing_lands_on_a_cordoned_or_tainted_node(world: World) -> None:
    world.store.update(NODES, "", "n0", lambda obj: {**obj, "spec": {**obj["spec"], "unschedulable": True}})
    taint = {"key": "relight.dev/isolated", "value": "x", "effect": "NoSchedule"}
    world.store.update(NODES, "", "n1", lambda obj: {**obj, "spec": {**obj["spec"], "taints": [taint]}})
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(5)
    scheduled = condition(world.pods()["job-master-0"], "PodScheduled")
    assert scheduled is not None
    tainted, cordoned = "had untolerated taint {relight.dev/isolated: x}", "were unschedulable"
    assert scheduled["message"] == f"0/2 nodes are available: 1 node(s) {tainted}, 1 node(s) {cordoned}."
    world.add_node("n2")
    world.run(2)
    assert {pod["spec"].get("nodeName") for pod in world.pods().values()} == {"n2", None}
    refused = condition(world.pods()["job-worker-0"], "PodScheduled")
    assert refused is not None
    assert "1 Insufficient nvidia.com/gpu" in refused["message"]


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "a", "operator": "Exists"}, True),
        ({"key": "a", "value": "x", "effect": "NoSchedule"}, True),
        ({"key": "a", "value": "y"}, False),
        ({"operator": "Exists"}, True),
        ({"key": "b", "operator": "Exists"}, False),
        ({"key": "a", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_a_toleration_matches_its_taint(toleration: Obj, tolerated: bool) -> None:
    pod = {"spec": {"tolerations": [toleration]}}
    assert scheduler.tolerates(pod, {"key": "a", "value": "x", "effect": "NoSchedule"}) is tolerated


def test_a_deleted_pod_is_made_again_unlike_a_suspended_job(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    old = world.pods()["job-worker-0"]["metadata"]["uid"]
    pods.delete(world.store, "ml", "job-worker-0", grace=None)
    world.run(8)
    assert world.pods()["job-worker-0"]["metadata"]["uid"] != old


def test_restarts_use_up_the_back_off_limit_and_a_failed_job_stays_failed(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of(backoffLimit=2))
    world.run(4)
    world.kubelets.fail("ml", "job-worker-0", 1)
    world.run(1)
    assert has_condition(world.job(), "Running")
    world.kubelets.fail("ml", "job-worker-0", 1)
    world.run(6)
    assert has_condition(world.job(), "Failed")
    assert not has_condition(world.job(), "Running")
    world.suspend(True)
    world.suspend(False)
    world.run(6)
    assert has_condition(world.job(), "Failed")
    assert world.pods() == {}


@pytest.mark.parametrize(
    ("policy", "code", "fails"), [("Never", 1, True), ("ExitCode", 1, True), ("ExitCode", 137, False)]
)
def test_an_exit_code_decides_as_the_restart_policy_says(world: World, policy: str, code: int, fails: bool) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of(restart=policy))
    world.run(4)
    world.kubelets.fail("ml", "job-worker-0", code)
    world.run(8)
    assert has_condition(world.job(), "Failed") is fails
    assert has_condition(world.job(), "Running") is not fails


def test_a_job_whose_pods_all_succeed_has_succeeded(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    for name in world.pods():
        world.kubelets.fail("ml", name, 0)
    world.run(1)
    assert has_condition(world.job(), "Succeeded")
    assert "completionTime" in world.job()["status"]


def test_a_disruption_budget_forbids_an_eviction_with_429(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    selector = {"matchLabels": {pytorchjob.JOB_LABEL: "job"}}
    world.store.create(BUDGETS, "ml", {"metadata": {"name": "b"}, "spec": {"minAvailable": 2, "selector": selector}})
    with pytest.raises(StatusError, match="violate the pod's disruption budget") as caught:
        pods.evict(world.store, "ml", "job-worker-0", grace=None, only_if=None)
    assert caught.value.code == 429
    world.store.update(BUDGETS, "ml", "b", lambda obj: {**obj, "spec": {"maxUnavailable": 1, "selector": selector}})
    pods.evict(world.store, "ml", "job-worker-0", grace=None, only_if=None)
    assert is_terminating(world.pods()["job-worker-0"])


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"minAvailable": 1}, 1),
        ({"minAvailable": "50%"}, 1),
        ({"minAvailable": "51%"}, 0),
        ({"maxUnavailable": "10%"}, 1),
        ({"maxUnavailable": 0}, 0),
        ({}, 1),
    ],
)
def test_a_disruption_budget_counts_pods_or_percentages(world: World, spec: Obj, allowed: int) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    selector = {"matchLabels": {pytorchjob.JOB_LABEL: "job"}}
    budget = world.store.create(BUDGETS, "ml", {"metadata": {"name": "b"}, "spec": {**spec, "selector": selector}})
    assert pods.disruptions_allowed(world.store, budget) == allowed


def test_a_second_delete_may_shorten_the_grace_and_never_lengthen_it(world: World) -> None:
    world.store.create(PYTORCH_JOBS, "ml", job_of())
    world.run(4)
    for grace, kept in ((20, 20), (25, 20), (5, 5)):
        pod = pods.delete(world.store, "ml", "job-worker-0", grace=grace)
        assert pod["metadata"]["deletionGracePeriodSeconds"] == kept
