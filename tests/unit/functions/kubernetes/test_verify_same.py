"""A node that was mended is proven in place: the instance well, the node Ready, all its GPUs offered again."""

from dataclasses import replace

import pytest

from functions.acts.support import Pace
from functions.kubernetes.verify import VerifyNode
from functions.ports.instances import Checks
from functions.ports.kubernetes import ISOLATED_TAINT, Node, Taint
from functions.twins.heartbeats import MemoryHeartbeats
from functions.twins.instances import MemoryInstances
from functions.twins.kubernetes import MemoryCluster
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import INCIDENT, Clock, Drive

GPUS = "nvidia.com/gpu"


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.instances = MemoryInstances(self.clock, launch_seconds=0)
        self.node = self.instances.launch("gpus")
        self.clock.move(600)
        kept = Taint(ISOLATED_TAINT, INCIDENT)
        node = Node("node-a", "1", self.node, ready=True, unschedulable=True, taints=(kept,), allocatable={GPUS: 7})
        self.cluster = MemoryCluster(nodes={"node-a": node})
        act = VerifyNode(
            connect=self.cluster.connect, instances=self.instances, heartbeats=MemoryHeartbeats(), pace=Pace()
        )
        self.drive = Drive(act, self.clock, node=self.node, facts={"reset_gpus": ["0000:4b:00"]})

    def change(self, **changes: object) -> None:
        self.cluster.nodes["node-a"] = replace(self.cluster.nodes["node-a"], **changes)  # type: ignore[arg-type]


@pytest.fixture
def world() -> World:
    return World()


def test_the_gpus_are_waited_for_and_the_isolation_stays_on(world: World) -> None:
    report = world.drive()
    assert report.status is RungStatus.WAITING
    assert "offers 7 of 8 nvidia.com/gpu" in report.reason
    world.change(allocatable={GPUS: 8})
    assert world.drive().outcome == {"verified_node": "node-a"}
    assert world.cluster.changes == []


def test_a_node_that_is_not_ready_is_waited_for(world: World) -> None:
    world.change(allocatable={GPUS: 8}, ready=False)
    assert "not Ready" in world.drive().reason
    world.change(ready=True)
    assert world.drive().status is RungStatus.DONE


def test_a_device_plugin_that_never_offers_the_gpu_again_fails_it_with_what_to_do(world: World) -> None:
    report = world.drive.until_done(step_seconds=30)
    assert report.status is RungStatus.FAILED
    assert "the device plugin may want a restart" in report.reason


def test_an_instance_that_goes_meanwhile_fails_at_once(world: World) -> None:
    world.instances.check_results[world.node] = Checks(instance="impaired", system="ok")
    assert "instance check says impaired" in world.drive().reason
    world.drive.node = "i-unknown"
    assert world.drive().reason == "i-unknown is unknown to EC2"
