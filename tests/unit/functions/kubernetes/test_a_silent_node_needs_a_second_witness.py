"""Isolating a node of which nothing is known but silence: who must agree, and what is left alone."""

from dataclasses import replace
from datetime import timedelta

import pytest

from functions.kubernetes.isolate import Isolate
from functions.ports.instances import Checks
from functions.ports.kubernetes import CHECKPOINTS, ISOLATED_TAINT, Job, JobName, Node, Taint
from functions.twins.kubernetes import MemoryCluster
from policies.contract.decisions import RungReport
from policies.contract.rungs import RungStatus
from policies.contract.vocabulary import Kind
from tests.tools.act_contexts import CLUSTER, OTHER, PLACE, Clock, Drive
from tests.tools.witnesses import around, silence

RUN = JobName("train", "llm")


class World:
    """One node, Ready and well by EC2, whose agent is silent."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.around = around(self.clock)
        self.id = self.around.instances.launch("gpus")
        self.cluster = MemoryCluster(nodes={"node-a": Node("node-a", "1", self.id, ready=True)})
        self.drive = Drive(
            Isolate(connect=self.cluster.connect, witness=self.around.witness),
            self.clock,
            node=self.id,
            findings=(silence(self.clock.now),),
        )

    def node(self, **changes: object) -> None:
        self.cluster.nodes["node-a"] = replace(self.cluster.nodes["node-a"], **changes)  # type: ignore[arg-type]

    def is_cordoned(self) -> bool:
        return self.cluster.nodes["node-a"].unschedulable

    def end(self) -> RungReport:
        return self.drive.until_done(step_seconds=20)


@pytest.fixture
def world() -> World:
    return World()


def test_a_node_that_kubernetes_calls_not_ready_is_isolated(world: World) -> None:
    world.node(ready=False)
    report = world.drive()
    assert report.outcome == {"isolated": "node-a", "dead_by": "Kubernetes: node node-a is not Ready"}
    assert world.is_cordoned()


@pytest.mark.parametrize("checks", [Checks("impaired", "ok"), Checks("ok", "impaired")])
def test_a_node_whose_status_checks_fail_is_isolated(world: World, checks: Checks) -> None:
    world.around.instances.check_results[world.id] = checks
    assert world.drive().outcome["dead_by"] == "EC2: its status checks are impaired"
    assert world.is_cordoned()


def test_an_instance_that_ended_is_dead(world: World) -> None:
    world.around.instances.end(world.id, "stopped")
    assert world.drive().outcome["dead_by"] == "EC2: stopped"


def test_a_silent_agent_on_a_machine_that_works_is_the_agents_fault(world: World) -> None:
    report = world.end()
    assert report.status is RungStatus.FAILED
    assert "see to the agent" in report.reason
    assert not world.is_cordoned()
    assert world.clock.now - world.drive.opened_at >= timedelta(seconds=120)


def test_a_witness_that_comes_late_is_waited_for(world: World) -> None:
    assert world.drive().status is RungStatus.WAITING
    world.clock.move(60)
    world.node(ready=False)
    assert world.drive().status is RungStatus.DONE


def test_a_node_that_spoke_again_is_left_alone(world: World) -> None:
    world.node(ready=False)
    world.around.heartbeats.seen[CLUSTER.name, world.id] = world.clock.now - timedelta(seconds=100)
    report = world.drive()
    assert (report.status, report.outcome) == (
        RungStatus.DONE,
        {"recovered": "its agent was heard again at 2026-03-01T11:58:20.500000Z"},
    )
    assert not world.is_cordoned()


def test_the_sign_that_the_silence_was_counted_from_is_no_new_one(world: World) -> None:
    world.node(ready=False)
    world.around.heartbeats.seen[CLUSTER.name, world.id] = world.clock.now - timedelta(seconds=160)
    assert world.drive().outcome["isolated"] == "node-a"


def test_a_node_that_somebody_else_cordoned_is_theirs(world: World) -> None:
    world.node(ready=False, unschedulable=True)
    assert "cordoned by somebody else" in world.drive().reason
    assert world.cluster.changes == []


def test_a_node_that_an_earlier_incident_of_ours_left_isolated_is_no_strangers(world: World) -> None:
    world.node(ready=False, unschedulable=True, taints=(Taint(ISOLATED_TAINT, OTHER),))
    assert world.drive().status is RungStatus.DONE


def test_who_knows_more_than_silence_needs_no_witness(world: World) -> None:
    world.drive.findings = (silence(world.clock.now), silence(world.clock.now, kind=Kind.GPU_XID))
    assert world.drive().outcome == {"isolated": "node-a"}


def test_the_run_whose_pods_are_on_the_node_is_told(world: World) -> None:
    world.node(ready=False)
    world.cluster.jobs[RUN] = Job(RUN, "u", "1", annotations={CHECKPOINTS: PLACE})
    world.cluster.start_pods(RUN, ["node-a", "node-b"])
    job = {"id": "train/llm", "orchestrator": "eks", "checkpoint": PLACE}
    assert world.drive().outcome["job"] == job


def test_of_two_runs_on_the_node_none_is_told(world: World) -> None:
    world.node(ready=False)
    for name in (RUN, JobName("train", "other")):
        world.cluster.jobs[name] = Job(name, str(name), "1")
        world.cluster.start_pods(name, ["node-a"])
    assert "job" not in world.drive().outcome
