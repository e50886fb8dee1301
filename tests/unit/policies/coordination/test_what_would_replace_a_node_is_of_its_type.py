"""A mixed cluster: what p4d groups have or lack says nothing of a degraded p5 node, from the look to the end."""

from datetime import timedelta

import pytest

from functions.ports.capacity import Refusal, Reservation, Room
from functions.ports.facts import FactKey
from functions.settings import ClusterSettings
from functions.sweep.capacity_look import CapacityLook
from functions.twins.capacity import MemoryCapacityView
from functions.twins.facts import MemoryFacts
from policies.contract.vocabulary import Kind
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus
from policies.facts.capacity import read_capacity
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, finding, findings

P5, P4 = "p5.48xlarge", "p4d.24xlarge"
NONE_LEFT = Refusal(at(-60), f"We currently do not have sufficient {P4} capacity", P4)
NO_P5 = Refusal(at(-60), f"We currently do not have sufficient {P5} capacity", P5)


def mixed() -> MemoryCapacityView:
    """Two p5 nodes in a group that is full, four p4d nodes in one with room."""
    groups = [
        Room("p5", 2, 2, has_warm_pool=True, types={P5: 2}),
        Room("p4d", 4, 6, has_warm_pool=True, types={P4: 4}),
    ]
    return MemoryCapacityView(groups=groups, of={CLUSTER: ["p5", "p4d"]})


def degraded(view: MemoryCapacityView, kind: str) -> Incident:
    """Return the incident of a degraded node of the type *kind*, decided on what a sweep sees of *view*."""
    facts, world = MemoryFacts(), DecisionTable()
    CapacityLook(view, facts, lambda: at(0)).look([ClusterSettings(name=CLUSTER, orchestrator="eks")], at(0))
    world.capacity = read_capacity(facts.texts[FactKey(CLUSTER, "capacity")])
    seen = finding(kind=Kind.GPU_SRAM_THRESHOLD_EXCEEDED)
    seen = seen.model_copy(update={"node": seen.node.model_copy(update={"instance_type": kind})})
    world.take(0, findings(seen))
    world.answer(30, ask(world.incident.id))
    return world.incident


def test_a_refused_launch_of_a_p4d_keeps_no_p5_from_being_replaced() -> None:
    view = mixed()
    view.refusals = {"p4d": NONE_LEFT}
    assert degraded(view, P5).status is IncidentStatus.ACTING
    kept = degraded(view, P4)
    assert kept.status is IncidentStatus.PARKED
    assert f"no spare for {P4}, and the last launch was refused at 09:59:00 UTC" in kept.reason


@pytest.mark.parametrize("p5", ["refused", "reserved"])
def test_three_p4d_spares_replace_no_p5(p5: str) -> None:
    view = mixed()
    view.warm_pools = {"p4d": {P4: 3}}
    if p5 == "refused":
        view.refusals = {"p5": NO_P5}
    view.reserved = [Reservation("cr-4", 8, 4, cluster=CLUSTER, instance_type=P4)]
    if p5 == "reserved":
        view.reserved.append(Reservation("cr-5", 2, 0, cluster=CLUSTER, instance_type=P5))
    kept = degraded(view, P5)
    assert kept.status is IncidentStatus.PARKED
    assert not kept.acted
    assert f"no spare for {P5}" in kept.reason
    assert degraded(view, P4).status is IncidentStatus.ACTING


def test_taken_slots_of_p4d_say_nothing_of_a_p5_that_reserves_none() -> None:
    view = mixed()
    view.reserved = [Reservation("cr-4", 8, 0, cluster=CLUSTER, instance_type=P4)]
    assert degraded(view, P5).status is IncidentStatus.ACTING
    assert degraded(view, P4).status is IncidentStatus.PARKED


@pytest.mark.parametrize("kind", ["", "g5.48xlarge"])
def test_of_a_node_whose_type_no_group_has_the_whole_cluster_is_asked(kind: str) -> None:
    view = mixed()
    view.refusals = {"p4d": NONE_LEFT}
    kept = degraded(view, kind)
    assert kept.status is IncidentStatus.PARKED
    assert "kept: no spare, and the last launch was refused" in kept.reason


def test_a_refusal_of_half_an_hour_ago_holds_no_type_back() -> None:
    view = mixed()
    view.refusals = {"p5": Refusal(at(0) - timedelta(minutes=31), NO_P5.why, P5)}
    assert degraded(view, P5).status is IncidentStatus.ACTING
