import pytest

from functions.acts.support import Pace
from functions.instances.fence import FenceNode
from functions.instances.replace import ReplaceNode
from functions.twins.heartbeats import MemoryHeartbeats
from functions.twins.instances import MemoryClaims, MemoryInstances
from policies.contract.errors import DependencyError
from policies.contract.rungs import RungStatus
from policies.contract.times import format_time
from tests.tools.act_contexts import CLUSTER, INCIDENT, OTHER, START, Clock, Drive
from tests.tools.faulty_ports import LosesAnswers

TWO_GROUPS = CLUSTER.model_copy(update={"auto_scaling_groups": ("gpus", "more-gpus")})


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.instances = MemoryInstances(self.clock, launch_seconds=20, shutdown_seconds=30)
        self.claims = MemoryClaims()
        self.heartbeats = MemoryHeartbeats()
        self.nodes = [self.instances.launch("gpus") for _ in range(4)]
        self.clock.move(3600)

    def replace(self, number: int = 0, incident: str = INCIDENT, instances: object = None, **more: object) -> Drive:
        act = ReplaceNode(instances=instances or self.instances, claims=self.claims, pace=Pace())  # type: ignore[arg-type]
        return Drive(act, self.clock, node=self.nodes[number], incident=incident, **more)  # type: ignore[arg-type]

    def fence(self, node: str) -> Drive:
        return Drive(
            FenceNode(instances=self.instances, heartbeats=self.heartbeats, pace=Pace()), self.clock, node=node
        )

    @property
    def members(self) -> tuple[str, ...]:
        group = self.instances.group("gpus")
        return group.members if group else ()

    @property
    def new(self) -> list[str]:
        return [each for each in self.members if each not in self.nodes]


@pytest.fixture
def world() -> World:
    return World()


def test_the_instance_is_given_up_once_and_its_successor_named_when_it_runs(world: World) -> None:
    drive = world.replace()
    first = drive()
    assert (first.status, first.reason) == (RungStatus.WAITING, f"the successor {world.new[0]} is pending")
    done = drive.until_done()
    assert done.status is RungStatus.DONE
    assert (done.outcome["new_instance"], done.outcome["group"]) == (world.new[0], "gpus")
    assert world.instances.terminated == [world.nodes[0]]
    assert drive().outcome["new_instance"] == done.outcome["new_instance"]


def test_a_crash_between_effect_and_report_gives_up_no_second_instance(world: World) -> None:
    drive = world.replace()
    for _ in range(4):
        drive()
        drive.restart()
        world.clock.move(5)
    world.clock.move(30)
    assert drive().outcome["new_instance"] == world.new[0]
    assert world.instances.terminated == [world.nodes[0]]
    assert len(world.new) == 1


def test_a_lost_answer_gives_up_no_second_instance(world: World) -> None:
    drive = world.replace(instances=LosesAnswers(world.instances, "replace"))
    with pytest.raises(DependencyError):
        drive()
    assert drive.until_done().outcome["new_instance"] == world.new[0]
    assert world.instances.terminated == [world.nodes[0]]


def test_two_incidents_count_on_two_successors(world: World) -> None:
    first, second = world.replace(0), world.replace(1, OTHER)
    first()
    second()
    world.clock.move(60)
    taken = {first().outcome["new_instance"], second().outcome["new_instance"]}
    assert taken == set(world.new)
    assert len(taken) == 2


def test_an_instance_that_was_there_before_is_never_taken_for_the_successor(world: World) -> None:
    world.instances.no_capacity = "InsufficientInstanceCapacity"
    report = world.replace()()
    assert report.status is RungStatus.WAITING
    assert world.claims.claims == {}


def test_missing_capacity_is_told_and_waited_for(world: World) -> None:
    world.instances.no_capacity = "We currently do not have sufficient p5.48xlarge capacity"
    drive = world.replace()
    assert drive().reason == (
        "group gpus cannot launch a successor: We currently do not have sufficient p5.48xlarge capacity"
    )
    world.clock.move(120)
    world.instances.fulfil("gpus")
    assert drive.until_done().outcome["new_instance"] == world.new[0]
    assert len(world.instances.terminated) == 1


def test_capacity_that_never_comes_fails_at_the_deadline(world: World) -> None:
    world.instances.no_capacity = "InsufficientInstanceCapacity"
    report = world.replace().until_done(step_seconds=60)
    assert report.status is RungStatus.FAILED
    assert "InsufficientInstanceCapacity, still so at the deadline" in report.reason
    assert len(world.instances.terminated) == 1


def test_nothing_is_given_up_while_a_person_stopped_the_groups_launches(world: World) -> None:
    world.instances.suspended["gpus"] = "its process Launch is suspended (User suspended); resume it"
    report = world.replace()()
    assert report.status is RungStatus.FAILED
    assert report.reason == (
        f"{world.nodes[0]} was not given up: group gpus launches no successor,"
        " its process Launch is suspended (User suspended); resume it"
    )
    assert world.instances.terminated == []


def test_a_group_that_somebody_made_smaller_is_told_and_waited_for(world: World) -> None:
    world.instances.wanted["gpus"] = 3
    drive = world.replace()
    report = drive()
    assert report.status is RungStatus.WAITING
    assert report.reason == (
        "group gpus has launched no successor yet: it has the 3 instances it wants; raise its desired capacity"
    )
    world.clock.move(60)
    world.instances.launch("gpus")
    assert drive.until_done().outcome["new_instance"] == world.new[0]


def test_an_instance_that_leaves_already_is_no_successor(world: World) -> None:
    drive = world.replace()
    drive()
    world.clock.move(30)
    first = world.new[0]
    world.instances.end(first, "shutting-down")
    assert drive().status is RungStatus.WAITING
    world.instances.launch("gpus")
    assert drive.until_done().outcome["new_instance"] != first


def test_an_instance_that_ended_by_itself_before_is_not_given_up_again(world: World) -> None:
    world.instances.replace(world.nodes[0])
    world.instances.terminated.clear()
    world.clock.move(60)
    report = world.replace()()
    assert (report.status, report.outcome["new_instance"]) == (RungStatus.DONE, world.new[0])
    assert world.instances.terminated == []


def test_among_several_groups_the_name_is_kept_before_the_act(world: World) -> None:
    drive = world.replace(cluster=TWO_GROUPS)
    first = drive()
    assert (first.status, first.outcome["group"], world.instances.terminated) == (RungStatus.WAITING, "gpus", [])
    assert drive.until_done().outcome["new_instance"] == world.new[0]


def test_an_instance_of_a_foreign_group_or_of_none_is_left_alone(world: World) -> None:
    world.nodes.append(world.instances.launch("somebody-elses"))
    world.nodes.append(world.instances.launch())
    assert "cluster train has gpus" in world.replace(4)().reason
    assert "runs in no Auto Scaling group; replace it by hand" in world.replace(5)().reason
    assert world.instances.terminated == []


def test_a_dead_node_is_fenced_through_its_group_and_done_when_it_is_gone(world: World) -> None:
    drive = world.fence(world.nodes[0])
    assert [drive().status for _ in range(2)] == [RungStatus.WAITING] * 2
    world.clock.move(31)
    done = drive()
    assert (done.status, done.outcome["group"]) == (RungStatus.DONE, "gpus")
    assert world.instances.terminated == [world.nodes[0]]


def test_after_the_fence_the_replacement_is_only_found(world: World) -> None:
    fence = world.fence(world.nodes[0])
    replace = world.replace()
    facts = fence.until_done().outcome
    replace.facts.update(facts)
    assert replace().outcome["new_instance"] == world.new[0]
    assert world.instances.terminated == [world.nodes[0]]


def test_a_dead_node_of_no_group_is_stopped_once(world: World) -> None:
    loner = world.instances.launch()
    world.clock.move(60)
    drive = world.fence(loner)
    drive()
    drive.restart()
    assert drive.until_done().status is RungStatus.DONE
    assert world.instances.stopped == [loner]


def test_an_instance_that_is_gone_needs_no_fence(world: World) -> None:
    report = world.fence("i-forgotten")()
    assert report.status is RungStatus.DONE
    assert report.outcome["fenced_at"] == format_time(world.clock.now)
    assert world.clock.now > START
