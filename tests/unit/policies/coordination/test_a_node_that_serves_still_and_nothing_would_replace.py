"""A degraded node is not given up where nothing would take its place; a dead one may go first (DESIGN 5.8)."""

from typing import Any

import pytest

from policies.contract.decisions import Finding, Limit
from policies.contract.restraints import ApproveMessage, Pace
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Kind
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from policies.facts.capacity import Capacity
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, POLICY, ask, at, finding, findings, plan

FULL = Capacity(at=at(0), spares=0, reserved=8, reserved_free=0, headroom=4)
REFUSED = Capacity(
    at=at(0), spares=0, reserved=0, reserved_free=0, refused_at=at(-60), refused="no sufficient capacity"
)
DEGRADED = Kind.GPU_SRAM_THRESHOLD_EXCEEDED


def settled(capacity: Capacity | None, kind: Kind = DEGRADED, **more: Any) -> DecisionTable:  # noqa: ANN401 - of a plan
    world = DecisionTable()
    world.capacity = capacity
    world.take(0, findings(finding(kind=kind, policy=plan(**more))))
    world.answer(30, ask(world.incident.id))
    return world


@pytest.mark.parametrize(
    ("capacity", "why"),
    [
        (FULL, "no spare, and all 8 reserved slots are taken"),
        (REFUSED, "no spare, and the last launch was refused at 09:59:00 UTC: no sufficient capacity"),
        (FULL.model_copy(update={"headroom": None}), "all 8 reserved slots are taken"),
    ],
)
def test_a_degraded_node_trains_on_and_a_person_is_paged(capacity: Capacity, why: str) -> None:
    world = settled(capacity)
    assert world.incident.status is IncidentStatus.PARKED
    assert not world.incident.acted
    assert why in world.incident.reason
    assert "an approval counts until" in world.incident.reason
    assert world.incident.timeline[-1].alert == "page"
    job = world.job()
    assert job is None or not job.holds


@pytest.mark.parametrize(
    "capacity",
    [
        None,
        FULL.model_copy(update={"at": at(-400)}),  # an old look says nothing
        FULL.model_copy(update={"spares": 1}),
        FULL.model_copy(update={"spares": None}),
        FULL.model_copy(update={"reserved_free": 1}),
        FULL.model_copy(update={"reserved_free": None, "reserved": None}),
        REFUSED.model_copy(update={"refused_at": at(-3600)}),
        REFUSED.model_copy(update={"refused_at": None}),
    ],
)
def test_where_something_may_come_or_nobody_knows_it_is_given_up(capacity: Capacity | None) -> None:
    world = settled(capacity)
    assert world.incident.status is IncidentStatus.ACTING


@pytest.mark.parametrize("kind", [Kind.GPU_XID, Kind.GPU_LOST, Kind.HOST_PANIC, Kind.NODE_SILENT])
@pytest.mark.parametrize("capacity", [FULL, REFUSED, None])
def test_a_node_that_serves_no_more_goes_first_whatever_would_come(kind: Kind, capacity: Capacity | None) -> None:
    assert settled(capacity, kind).incident.status is IncidentStatus.ACTING


def test_who_only_isolates_or_mends_is_not_held_back() -> None:
    world = DecisionTable()
    world.capacity = FULL
    world.take(0, findings(finding(kind=DEGRADED, policy=plan(Action.RESET_GPU, Action.RESUME_JOB))))
    assert world.answer(30, ask(world.incident.id)).rung is Rung.ISOLATE


def test_a_person_may_have_it_given_up_all_the_same() -> None:
    world = settled(FULL)
    world.take(60, ApproveMessage(cluster=CLUSTER, incident=world.incident.id, by="ann", approved=True))
    answer = world.answer(61, ask(world.incident.id, attempt=2))
    assert (answer.verdict, answer.rung) == ("act", Rung.ISOLATE)


def test_when_the_kept_node_dies_it_is_given_up_at_once() -> None:
    world = settled(FULL)
    world.take(300, findings(finding(name="panic", kind=Kind.HOST_PANIC, seen=at(300), policy=plan(name="host-panic"))))
    kept, dead = world.incidents
    assert (kept.status, kept.outcome) == (IncidentStatus.CLOSED, "merged")
    assert dead.status is IncidentStatus.SETTLING
    assert world.answer(330, ask(dead.id)).rung is Rung.ISOLATE
    again = world.decide(340, findings(finding(name="panic", kind=Kind.HOST_PANIC, seen=at(300))))
    assert again.incidents == ()


@pytest.mark.parametrize(
    "later",
    [
        finding(name="same", kind=DEGRADED, seen=at(300)),
        finding(name="tells", kind=Kind.HOST_PANIC, seen=at(300), policy=plan(Action.ALERT, name="tells")),
        finding(name="late", kind=Kind.HOST_PANIC, seen=at(300), late=True),
    ],
)
def test_whatever_else_is_seen_on_it_is_one_more_note(later: Finding) -> None:
    world = settled(FULL)
    world.take(300, findings(later))
    assert world.incident.status is IncidentStatus.PARKED
    assert len(world.incident.findings) == 2


def test_one_that_parked_for_another_reason_gives_way_to_nobody() -> None:
    world = DecisionTable()
    world.take(0, findings(finding(kind=DEGRADED, policy=plan(approval=True))))
    world.answer(30, ask(world.incident.id))
    world.take(300, findings(finding(name="panic", kind=Kind.HOST_PANIC, seen=at(300), policy=plan(name="host-panic"))))
    assert world.incident.status is IncidentStatus.PARKED


def test_a_kept_node_counts_in_no_budget_and_as_no_act() -> None:
    world = settled(
        FULL, acts=Pace(at_most=6, within_seconds=3600), limits={"replacements": Limit(at_most=1, within_seconds=600)}
    )
    read = world.store.read(CLUSTER, Keys(budgets=frozenset({f"acts#policy#{POLICY}", "replacements#cluster"})))
    assert all(not budget.reservations for budget in read.budgets.values())
