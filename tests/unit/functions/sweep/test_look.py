"""The look for silent nodes with its ports' twins: who is asked for, who is accused, what is sent."""

from datetime import UTC, datetime, timedelta

import pytest

from functions.ports.heartbeats import name_of_canary
from functions.ports.instances import Checks
from functions.ports.triage import Heard
from functions.settings import ClusterSettings
from functions.sweep.look import Lookout
from functions.sweep.silence import Patience
from functions.twins.faults import MemoryFaultsLane
from functions.twins.instances import MemoryInstances
from functions.twins.triage import MemorySeen
from policies.contract.decisions import generation_of
from policies.contract.envelope import CANARY_NODE, Envelope
from policies.contract.vocabulary import Kind
from policies.coordination import leases
from policies.coordination.leases import Lease

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CLUSTER = ClusterSettings(name="c", orchestrator="eks", auto_scaling_groups=("gpus",))


class Leases:
    def __init__(self) -> None:
        self.held: dict[str, Lease] = {}

    def load_lease(self, cluster: str, generation: str) -> Lease | None:
        assert cluster == "c"
        return self.held.get(generation)


class World:
    """Ten nodes of a group; each was heard ten seconds ago, and so was the canary."""

    def __init__(self) -> None:
        self.now = NOW
        self.seen, self.faults, self.leases = MemorySeen(), MemoryFaultsLane(), Leases()
        self.instances = MemoryInstances(lambda: self.now)
        self.nodes = [self.instances.launch("gpus", tags={"relight:cluster": "c"}) for _ in range(10)]
        self.hear(CANARY_NODE, 20)
        for node in self.nodes:
            self.hear(node, 10)
        self.lookout = Lookout(self.seen, self.instances, self.leases, self.faults, Patience())

    def hear(self, name: str, seconds_ago: float) -> None:
        self.seen.write([Heard("c", name, "boot-1", self.now - timedelta(seconds=seconds_ago))])

    def silence(self, node: str, seconds: float = 200) -> None:
        self.hear(node, seconds)
        self.hear(name_of_canary(node), 30)

    def look(self) -> list[Envelope]:
        self.faults.accepted.clear()
        self.lookout.look(CLUSTER, self.now)
        return list(self.faults.accepted)


def kinds(envelopes: list[Envelope]) -> list[Kind]:
    return [event.kind for envelope in envelopes for event in envelope.events]


@pytest.fixture
def world() -> World:
    return World()


def test_where_everybody_talks_nothing_is_sent_and_nobody_is_asked(world: World) -> None:
    assert world.look() == []


def test_a_quiet_nodes_way_is_tried_before_it_is_accused(world: World) -> None:
    world.hear(world.nodes[0], 100)
    [canary] = world.look()
    assert (canary.node.name, canary.node.instance_id) == (CANARY_NODE, world.nodes[0])
    assert kinds([canary]) == [Kind.PIPELINE_CANARY]


def test_a_silent_node_is_told_with_what_ec2_says_of_it(world: World) -> None:
    world.instances.check_results[world.nodes[0]] = Checks("impaired", "ok")
    world.silence(world.nodes[0])
    [_, envelope] = world.look()
    [event] = envelope.events
    assert (envelope.node.cluster, envelope.node.instance_id, event.kind) == ("c", world.nodes[0], Kind.NODE_SILENT)
    assert event.attributes == {
        "last_seen_seconds": 200,
        "last_seen": "2026-03-01T11:56:40.000000Z",
        "status_checks": "impaired",
    }


def test_the_same_silence_told_again_is_the_same_event(world: World) -> None:
    world.silence(world.nodes[0])
    first = world.look()[1]
    world.now += timedelta(seconds=60)
    world.hear(CANARY_NODE, 5)
    world.hear(name_of_canary(world.nodes[0]), 5)
    for node in world.nodes[1:]:
        world.hear(node, 5)
    again = world.look()[1]
    assert (first.spool_id, first.events[0].id) == (again.spool_id, again.events[0].id)
    world.hear(world.nodes[0], 201)
    world.seen.write([Heard("c", world.nodes[0], "boot-2", NOW - timedelta(seconds=200))])
    assert world.look()[1].events[0].id != first.events[0].id


@pytest.mark.parametrize("state", ["stopping", "stopped", "shutting-down", "terminated"])
def test_a_node_that_ends_may_be_silent(world: World, state: str) -> None:
    world.silence(world.nodes[0])
    world.instances.end(world.nodes[0], state)  # type: ignore[arg-type]
    assert world.look() == []


def test_a_node_of_nobody_we_know_is_left_alone(world: World) -> None:
    stranger = world.instances.launch("somebody-elses")
    world.silence(stranger)
    assert world.look() == []


def test_a_node_that_ec2_never_heard_of_is_left_alone(world: World) -> None:
    world.silence("i-0fedcba9876543210")
    assert world.look() == []


def lease_of(node: str, seconds: float) -> Lease:
    until = NOW + timedelta(seconds=seconds)
    return leases.acquire(None, cluster="c", generation=generation_of(node), incident="1", until=until)


def test_a_node_that_an_incident_works_on_is_its(world: World) -> None:
    node = world.nodes[0]
    world.silence(node)
    world.leases.held[generation_of(node)] = lease_of(node, 600)
    assert world.look() == []


def test_a_node_that_was_given_up_after_its_last_sign_is_history_and_one_that_speaks_since_is_not(world: World) -> None:
    node = world.nodes[0]
    world.silence(node)
    world.leases.held[generation_of(node)] = leases.release(lease_of(node, 600), "replaced", NOW)
    assert world.look() == []
    before = NOW - timedelta(seconds=3600)
    world.leases.held[generation_of(node)] = leases.release(lease_of(node, 600), "replaced", before)
    assert kinds(world.look()) == [Kind.PIPELINE_CANARY, Kind.NODE_SILENT]


def test_many_at_once_are_told_as_one_fault_of_the_cluster(world: World) -> None:
    for node in world.nodes[:4]:
        world.silence(node)
    envelopes = world.look()
    assert kinds(envelopes) == [*[Kind.PIPELINE_CANARY] * 4, Kind.PIPELINE_NODES_SILENT]
    assert envelopes[-1].events[0].attributes == {"nodes": 4}
    assert envelopes[-1].node.instance_id == "relight-sweep"


def test_without_a_canary_nobody_is_asked_and_nothing_is_sent(world: World) -> None:
    for node in world.nodes[:4]:
        world.silence(node)
    world.hear(CANARY_NODE, 300)
    assert world.look() == []
