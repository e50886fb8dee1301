"""The minute's sweep: one message and one canary a cluster, and what happens when a send fails."""

from datetime import UTC, datetime, timedelta

import pytest

from functions.settings import ClusterSettings
from functions.sweep.canaries import canary
from functions.sweep.capacity_look import CapacityLook
from functions.sweep.look import Lookout
from functions.sweep.silence import Patience
from functions.sweep.sweep import sweep
from functions.twins.acts import MemoryLeaseReader
from functions.twins.capacity import MemoryCapacityView
from functions.twins.facts import MemoryFacts
from functions.twins.faults import MemoryFaultsLane
from functions.twins.instances import MemoryInstances
from functions.twins.sweeps import MemorySweeps
from functions.twins.triage import MemorySeen
from policies.contract.envelope import CANARY_NODE, parse_envelope
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import Kind
from policies.coordination.memory import MemoryStore

NOW = datetime(2026, 3, 1, 12, 0, 7, tzinfo=UTC)
CLUSTERS = tuple(ClusterSettings(name=name, orchestrator="eks") for name in ("a", "b"))


def run(sweeps: MemorySweeps, faults: MemoryFaultsLane, now: datetime = NOW, kept: MemoryFacts | None = None) -> None:
    lookout = Lookout(MemorySeen(), MemoryInstances(lambda: now), MemoryLeaseReader(MemoryStore()), faults, Patience())
    capacity = CapacityLook(MemoryCapacityView(), kept or MemoryFacts(), lambda: now)
    sweep(clusters=CLUSTERS, sweeps=sweeps, faults=faults, lookout=lookout, capacity=capacity, clock=lambda: now)


def test_every_cluster_gets_a_sweep_and_a_canary() -> None:
    sweeps, faults = MemorySweeps(), MemoryFaultsLane()
    run(sweeps, faults)
    assert [(message.cluster, message.at) for message in sweeps.sent] == [("a", NOW), ("b", NOW)]
    assert [(it.node.cluster, it.node.name) for it in faults.accepted] == [("a", CANARY_NODE), ("b", CANARY_NODE)]


def test_a_canary_is_an_envelope_like_any_other() -> None:
    envelope = canary("a", NOW)
    parsed = parse_envelope(envelope.to_json().encode())
    assert (parsed.envelope, parsed.rejected) == (envelope, ())
    [event] = envelope.events
    assert (event.kind, event.seq, envelope.first_seq) == (Kind.PIPELINE_CANARY, 0, 0)


def test_the_same_minute_gives_the_same_ids_and_the_next_one_others() -> None:
    first, again, later = (canary("a", NOW + timedelta(seconds=seconds)) for seconds in (0, 40, 60))
    assert first.spool_id == again.spool_id != later.spool_id
    assert first.events[0].id == again.events[0].id != later.events[0].id
    assert canary("b", NOW).events[0].id != first.events[0].id


def test_a_repeat_in_the_same_minute_sweeps_nothing_twice() -> None:
    sweeps, faults = MemorySweeps(), MemoryFaultsLane()
    run(sweeps, faults)
    run(sweeps, faults, NOW + timedelta(seconds=30))
    assert len(sweeps.sent) == 2


def test_a_cluster_whose_queue_refuses_stops_neither_the_other_nor_the_canary() -> None:
    sweeps, faults = MemorySweeps(), MemoryFaultsLane()
    sweeps.failing = {"a"}
    with pytest.raises(DependencyError, match="1 of 6 parts failed"):
        run(sweeps, faults)
    assert [message.cluster for message in sweeps.sent] == ["b"]
    assert len(faults.accepted) == 2


def test_a_lane_that_refuses_stops_no_sweep() -> None:
    sweeps, faults, kept = MemorySweeps(), MemoryFaultsLane(), MemoryFacts()
    faults.failing = True
    with pytest.raises(DependencyError, match="the faults lane refuses"):
        run(sweeps, faults, kept=kept)
    assert len(sweeps.sent) == 2
    assert sorted(key.cluster for key in kept.texts) == ["a", "b"]
