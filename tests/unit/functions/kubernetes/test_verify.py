from dataclasses import replace
from datetime import timedelta

import pytest

from functions.acts.support import Pace
from functions.kubernetes.verify import VerifyNode
from functions.ports.instances import Checks
from functions.ports.kubernetes import ISOLATED_TAINT, UNVERIFIED_TAINT, Node, Taint
from functions.twins.heartbeats import MemoryHeartbeats
from functions.twins.instances import MemoryInstances
from functions.twins.kubernetes import MemoryCluster
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import Clock, Drive

NEW = "i-new"


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.instances = MemoryInstances(self.clock, launch_seconds=10)
        self.heartbeats = MemoryHeartbeats()
        self.cluster = MemoryCluster()
        self.instances.launch("gpus", NEW)
        self.drive = self.driven()

    def driven(self, **facts: object) -> Drive:
        act = VerifyNode(
            connect=self.cluster.connect, instances=self.instances, heartbeats=self.heartbeats, pace=Pace()
        )
        return Drive(act, self.clock, node="i-old", facts=facts or {"new_instance": NEW})

    def join(self, **changes: object) -> None:
        node = Node("new", "1", NEW, taints=(Taint(UNVERIFIED_TAINT), Taint("team", "a")))
        self.cluster.nodes["new"] = replace(self.cluster.nodes.get("new", node), **changes)  # type: ignore[arg-type]

    def boot(self) -> None:
        """Everything a healthy boot brings."""
        self.clock.move(60)
        self.join(ready=True, allocatable={"nvidia.com/gpu": 8})
        self.heartbeats.seen["train", NEW] = self.clock.now


@pytest.fixture
def world() -> World:
    return World()


def test_each_proof_of_a_boot_is_waited_for_in_turn_and_the_taint_goes_last(world: World) -> None:
    said = [world.drive().reason]
    world.clock.move(60)
    said.append(world.drive().reason)
    world.join()
    said.append(world.drive().reason)
    world.join(ready=True)
    said.append(world.drive().reason)
    world.join(allocatable={"nvidia.com/gpu": 8})
    said.append(world.drive().reason)
    assert [text.removeprefix("the replacement i-new: ") for text in said] == [
        "EC2's status checks have not passed yet",
        "it has not joined the cluster yet",
        "node new is not Ready yet",
        "node new offers no nvidia.com/gpu yet",
        "its agent has not been heard yet",
    ]
    assert world.cluster.changes == []
    world.heartbeats.seen["train", NEW] = world.clock.now
    assert [world.drive().outcome for _ in range(2)] == [{"verified_node": "new"}] * 2
    assert world.cluster.nodes["new"].taints == (Taint("team", "a"),)
    assert len(world.cluster.changes) == 1


def test_a_heartbeat_from_before_the_launch_proves_nothing(world: World) -> None:
    world.boot()
    world.heartbeats.seen["train", NEW] = world.clock.now - timedelta(hours=1)
    assert "agent has not been heard" in world.drive().reason


def test_a_missing_gpu_fails_at_once_and_the_taint_stays(world: World) -> None:
    world.boot()
    world.join(allocatable={"nvidia.com/gpu": 7})
    report = world.drive()
    assert (report.status, report.reason) == (RungStatus.FAILED, "the replacement i-new offers 7 of 8 nvidia.com/gpu")
    assert world.cluster.changes == []


def test_an_impaired_instance_fails_at_once(world: World) -> None:
    world.boot()
    world.instances.check_results[NEW] = Checks("impaired", "ok")
    report = world.drive()
    assert report.status is RungStatus.FAILED
    assert "EC2's instance check says impaired" in report.reason


def test_a_replacement_that_ended_fails_at_once(world: World) -> None:
    world.boot()
    world.instances.end(NEW)
    assert world.drive().reason == "the replacement i-new is terminated"
    assert world.driven(new_instance="").__call__().reason == "the replacement (none was named) is unknown to EC2"


def test_a_replacement_isolated_for_another_incident_is_not_let_loose(world: World) -> None:
    world.boot()
    world.join(taints=(Taint(UNVERIFIED_TAINT), Taint(ISOLATED_TAINT, "other")))
    assert "isolated for another incident" in world.drive().reason


def test_a_node_that_never_joins_fails_at_the_deadline(world: World) -> None:
    report = world.drive.until_done(step_seconds=60)
    assert report.status is RungStatus.FAILED
    assert "it has not joined the cluster yet, still so at the deadline" in report.reason
