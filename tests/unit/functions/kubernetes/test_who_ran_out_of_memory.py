"""Suspending a run because a container ran out of memory: only if it was one of the run's own."""

import pytest

from functions.acts.support import Pace
from functions.kubernetes.suspend import SuspendJob
from functions.ports.kubernetes import Job, JobName
from functions.twins.instances import MemoryInstances
from functions.twins.kubernetes import MemoryCluster
from policies.contract.events import JobRef
from policies.contract.rungs import RungStatus
from policies.contract.vocabulary import Kind
from policies.coordination.notes import FindingNote
from tests.tools.act_contexts import Clock, Drive
from tests.tools.witnesses import silence

RUN = JobName("train", "llm")


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.cluster = MemoryCluster(jobs={RUN: Job(RUN, "u", "1")})
        self.cluster.start_pods(RUN, ["node-a", "node-b"])
        act = SuspendJob(connect=self.cluster.connect, instances=MemoryInstances(self.clock), pace=Pace())
        self.drive = Drive(act, self.clock, node="i-0a", job=JobRef(id=str(RUN)))

    def killed(self, *pods: str, also: tuple[FindingNote, ...] = ()) -> None:
        note = silence(self.clock.now, kind=Kind.CONTAINER_OOM_KILL)
        notes = (note.model_copy(update={"attributes": {"pod_uid": pod} if pod else {}}) for pod in pods)
        self.drive.findings = (*notes, *also)

    @property
    def is_suspended(self) -> bool:
        return self.cluster.jobs[RUN].suspended


@pytest.fixture
def world() -> World:
    return World()


def test_a_rank_that_was_killed_stops_its_run(world: World) -> None:
    world.killed(next(iter(world.cluster.pods)))
    assert world.drive().status is RungStatus.WAITING
    assert world.is_suspended


def test_a_shipper_of_logs_on_the_same_node_stops_nothing(world: World) -> None:
    world.killed("6f2c1d0e-8d1e-4c6b-9a52-3f1f0f9f8a11")
    report = world.drive()
    assert "of another pod (6f2c1d0e" in report.outcome["stood_aside"]
    assert not world.is_suspended


def test_where_nobody_can_tell_whose_it_was_the_run_is_stopped(world: World) -> None:
    world.killed("")
    world.drive()
    assert world.is_suspended


def test_a_run_that_stands_still_as_well_is_stopped_whoever_was_killed(world: World) -> None:
    world.killed("6f2c1d0e-8d1e-4c6b-9a52-3f1f0f9f8a11", also=(silence(world.clock.now, kind=Kind.TRAINING_STALLED),))
    world.drive()
    assert world.is_suspended


def test_once_begun_it_is_gone_through_though_the_pod_is_gone(world: World) -> None:
    world.killed(next(iter(world.cluster.pods)))
    world.drive()
    world.cluster.pods.clear()
    assert world.drive().outcome.get("stood_aside") is None
    assert world.is_suspended
