"""Fencing a node of which nothing is known but silence."""

from datetime import timedelta

import pytest

from functions.acts.support import Pace
from functions.instances.fence import FenceNode
from functions.ports.instances import Checks
from functions.twins.heartbeats import MemoryHeartbeats
from functions.twins.instances import MemoryInstances
from policies.contract.rungs import RungStatus
from policies.contract.vocabulary import Kind
from tests.tools.act_contexts import CLUSTER, Clock, Drive
from tests.tools.witnesses import silence


class World:
    def __init__(self) -> None:
        self.clock, self.heartbeats = Clock(), MemoryHeartbeats()
        self.instances = MemoryInstances(self.clock, shutdown_seconds=30)
        self.node = self.instances.launch("gpus")
        act = FenceNode(instances=self.instances, heartbeats=self.heartbeats, pace=Pace())
        self.drive = Drive(act, self.clock, node=self.node, findings=(silence(self.clock.now),))


@pytest.fixture
def world() -> World:
    return World()


def test_without_a_second_witness_nothing_is_ended(world: World) -> None:
    report = world.drive()
    assert (report.status, world.instances.terminated) == (RungStatus.FAILED, [])
    assert "nobody else says that it is dead" in report.reason


def test_what_isolate_was_told_is_a_witness(world: World) -> None:
    world.drive.facts["dead_by"] = "Kubernetes: node node-a is not Ready"
    assert world.drive.until_done().status is RungStatus.DONE
    assert world.instances.terminated == [world.node]


def test_ec2_is_a_witness(world: World) -> None:
    world.instances.check_results[world.node] = Checks("impaired", "ok")
    assert world.drive.until_done().status is RungStatus.DONE


def test_who_spoke_again_meanwhile_is_spared(world: World) -> None:
    world.drive.facts["dead_by"] = "Kubernetes: node node-a is not Ready"
    world.heartbeats.seen[CLUSTER.name, world.node] = world.clock.now - timedelta(seconds=1)
    report = world.drive()
    assert (report.status, world.instances.terminated) == (RungStatus.FAILED, [])
    assert "uncordon it" in report.reason


def test_a_fence_that_has_begun_is_gone_through(world: World) -> None:
    world.drive.facts["dead_by"] = "Kubernetes: node node-a is not Ready"
    world.drive()
    world.heartbeats.seen[CLUSTER.name, world.node] = world.clock.now
    assert world.drive.until_done().status is RungStatus.DONE


def test_other_faults_need_no_witness(world: World) -> None:
    world.drive.findings = (silence(world.clock.now, kind=Kind.INSTANCE_STATUS_IMPAIRED),)
    assert world.drive.until_done().status is RungStatus.DONE
