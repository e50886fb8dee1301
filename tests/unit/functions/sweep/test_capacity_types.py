"""What could take a node's place is a question of its type: what other types have, lack or reserve is none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ports.capacity import Refusal, Reservation, Room
from functions.ports.facts import FactKey
from functions.settings import ClusterSettings
from functions.sweep.capacity import judge
from functions.sweep.capacity_look import CapacityLook
from functions.sweep.capacity_types import MOST_TYPES, Answers
from functions.twins.capacity import MemoryCapacityView
from functions.twins.facts import MemoryFacts
from policies.facts.capacity import Available, Capacity, why_none

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
P5, P5E, P4 = "p5.48xlarge", "p5e.48xlarge", "p4d.24xlarge"
CLUSTER = ClusterSettings(name="a", orchestrator="eks", auto_scaling_groups=("ours", "theirs"))
OURS, THEIRS = Room("ours", 2, 2, types={P5: 2}), Room("theirs", 4, 6, has_warm_pool=True, types={P4: 4})
WARM = {"theirs": {P4: 3}}
REFUSED = Refusal(NOW - timedelta(minutes=2), "no sufficient capacity")
RESERVED = (Reservation("cr-5", 8, 0, instance_type=P5), Reservation("cr-4", 4, 1, instance_type=P4))


def looked(*rooms: Room, **told: Any) -> Capacity:  # noqa: ANN401 - fields of the answers
    return judge(replace(Answers(rooms=rooms, warm={}, reservations=()), **told), NOW)


def test_each_type_has_its_own_figures_and_the_cluster_the_sum() -> None:
    found = looked(OURS, THEIRS, warm=WARM, reservations=RESERVED, refusals={"ours": REFUSED})
    assert found.by_type == {
        P5: Available(
            spares=0, reserved=8, reserved_free=0, headroom=0, refused_at=REFUSED.at, refused="no sufficient capacity"
        ),
        P4: Available(spares=3, reserved=4, reserved_free=1, headroom=2),
    }
    assert (found.spares, found.reserved, found.reserved_free, found.headroom) == (3, 12, 1, 2)
    assert why_none(found, NOW, P5).startswith(f"no spare for {P5}, and the last launch was refused")
    assert why_none(found, NOW, P4) == ""


def test_types_of_one_group_stand_in_for_each_other() -> None:
    mixed = Room("mixed", 2, 3, types={P5: 2, P5E: 0})
    found = looked(mixed, THEIRS, warm={"mixed": {P5E: 1}}, reservations=[Reservation("cr", 2, 1, instance_type=P5E)])
    assert found.by_type[P5] == found.by_type[P5E] == Available(spares=1, reserved=2, reserved_free=1, headroom=1)


def test_an_empty_group_is_known_by_its_warm_instances_or_by_the_launch_that_was_refused() -> None:
    empty = Room("empty", 1, 3)
    assert looked(OURS, empty, warm={"empty": {P4: 1}}).by_type[P5].spares == 0
    named = looked(OURS, empty, refusals={"empty": replace(REFUSED, instance_type=P4)})
    assert named.by_type[P5] == Available(spares=0, reserved=0, reserved_free=0, headroom=0)
    assert why_none(named, NOW, P4)


def test_a_group_of_which_nobody_knows_what_it_launches_may_launch_each() -> None:
    empty = Room("empty", 1, 3)
    found = looked(OURS, empty, refusals={"empty": REFUSED})
    assert found.by_type[P5] == Available(
        spares=0, reserved=0, reserved_free=0, headroom=2, refused_at=REFUSED.at, refused=REFUSED.why
    )
    any_of = Room("any", 1, 3, types={P4: 1}, others=True)
    assert looked(OURS, any_of).by_type[P5].headroom == 2
    assert looked(OURS, any_of, refusals={"any": replace(REFUSED, instance_type=P4)}).by_type[P5].refused_at is None
    reserved = [Reservation("cr", 8, 3, instance_type=P5E)]
    assert looked(OURS, any_of, reservations=reserved).by_type[P5].reserved_free == 0
    assert looked(OURS, any_of, reservations=reserved).by_type[P4].reserved_free == 3


def test_where_nothing_tells_a_type_the_whole_cluster_is_all_that_is_known() -> None:
    found = looked(Room("one", 0, 3), Room("two", 0, 2), warm={"one": {"": 2}})
    assert found.by_type == {}
    assert found.of(P5) is found
    assert (found.spares, found.headroom) == (2, 5)


def test_a_reservation_that_tells_no_type_may_be_anybodys() -> None:
    assert looked(OURS, reservations=[Reservation("cr", 4, 1)]).by_type[P5].reserved_free == 1


@pytest.mark.parametrize("part", ["warm", "reservations"])
def test_what_nobody_answered_is_unknown_of_each_type_too(part: str) -> None:
    found = looked(OURS, THEIRS, **{part: None})
    name = {"warm": "spares", "reservations": "reserved_free"}[part]
    assert [getattr(each, name) for each in (found, found.by_type[P5], found.by_type[P4])] == [None] * 3


def test_a_document_stays_small_however_many_types_there_are_and_those_with_instances_are_in_it() -> None:
    rooms = [
        Room(f"group-{number:03}", 1, 2, types={f"m{number}.{size}xlarge": 0 for size in range(40)})
        for number in range(100)
    ]
    refusals = {each.name: Refusal(NOW, "x" * 200) for each in rooms}
    warm = {**WARM, "empty": {P5E: 1}}
    found = looked(*rooms, OURS, THEIRS, Room("empty", 0, 1), warm=warm, refusals=refusals)
    assert len(found.by_type) == MOST_TYPES
    assert {P5, P5E, P4} <= found.by_type.keys()
    assert len(found.to_json()) < 12 * 1024


def test_a_minute_asks_what_it_asked_before_types_were_told() -> None:
    view = MemoryCapacityView(groups=[OURS, THEIRS], warm_pools={**WARM}, reserved=[*RESERVED])
    facts = MemoryFacts()
    CapacityLook(view, facts, lambda: NOW).look([CLUSTER], NOW)
    assert sorted(view.asked) == ["lived_in", "refusal", "refusal", "reservations", "rooms", "warm"]
    kept = Capacity.model_validate_json(facts.texts[FactKey("a", "capacity")])
    assert (kept.of(P5).spares, kept.of(P4).spares) == (0, 3)


def test_a_group_that_does_not_answer_leaves_only_the_types_that_it_may_launch_unknown() -> None:
    ours = replace(OURS, has_warm_pool=True)
    view = MemoryCapacityView(groups=[ours, THEIRS], warm_pools={**WARM}, refusals={"ours": REFUSED})
    view.failing = {"warm theirs", "refusal theirs"}
    facts = MemoryFacts()
    CapacityLook(view, facts, lambda: NOW).look([CLUSTER], NOW)
    found = Capacity.model_validate_json(facts.texts[FactKey("a", "capacity")])
    assert (found.spares, found.of(P5).spares, found.of(P4).spares) == (None, 0, None)
    assert why_none(found, NOW, P5).endswith("no sufficient capacity")
    assert why_none(found, NOW, P4) == ""
    assert set(found.unknown) == {"spares", "refused_at"}


TYPES = ("p5", "p5e", "p4d", "g5")
KINDS = st.dictionaries(st.sampled_from(TYPES), st.integers(0, 3), max_size=2)
AGES = st.none() | st.integers(0, 59)


@st.composite
def clusters(draw: st.DrawFn, types: tuple[str, ...] = TYPES, prefix: str = "") -> Answers:
    """Groups of one or two of *types* or of none that is told, some with warm instances, refusals and reservations."""
    kinds = st.dictionaries(st.sampled_from(types), st.integers(0, 3), min_size=1, max_size=2)
    rooms = [
        Room(f"{prefix}{number}", 1, draw(st.integers(1, 3)), types=draw(kinds))
        for number in range(draw(st.integers(1, 4)))
    ]
    warm = {each.name: {draw(st.sampled_from(sorted(each.types))): draw(st.integers(0, 2))} for each in rooms}
    refused = {each.name: draw(AGES) for each in rooms}
    reserved = [
        Reservation(f"{prefix}cr-{number}", 4, draw(st.integers(0, 1)), instance_type=draw(st.sampled_from(types)))
        for number in range(draw(st.integers(0, 3)))
    ]
    refusals = {name: Refusal(NOW - timedelta(minutes=age), name) for name, age in refused.items() if age is not None}
    return Answers(rooms=rooms, warm=warm, refusals=refusals, reservations=reserved)


def launches(answers: Answers, room: Room) -> set[str]:
    return {*room.types, *((answers.warm or {}).get(room.name) or {})}


@given(clusters(), st.sampled_from(TYPES))
def test_nobody_says_that_nothing_would_come_where_a_group_of_the_type_has_a_spare_or_it_a_free_slot(
    answers: Answers, kind: str
) -> None:
    found = judge(answers, NOW)
    ours = [each for each in answers.rooms or () if kind in launches(answers, each)]
    spare = any(sum(((answers.warm or {})[each.name] or {}).values()) for each in ours)
    free = any(each.free and each.instance_type == kind for each in answers.reservations or ())
    assert (kind in found.by_type) == bool(ours)
    if ours and (spare or free):
        assert why_none(found, NOW, kind) == ""


@given(clusters(("p5", "p5e"), "ours-"), clusters(("p4d", "g5"), "theirs-"), st.sampled_from(["p5", "p5e"]))
def test_what_other_types_have_lack_or_reserve_changes_nothing_for_a_type(
    ours: Answers, theirs: Answers, kind: str
) -> None:
    together = Answers(
        rooms=[*(theirs.rooms or ()), *(ours.rooms or ())],
        warm={**(theirs.warm or {}), **(ours.warm or {})},
        refusals={**theirs.refusals, **ours.refusals},
        reservations=[*(theirs.reservations or ()), *(ours.reservations or ())],
    )
    alone, beside = judge(ours, NOW), judge(together, NOW)
    assert alone.by_type.get(kind) == beside.by_type.get(kind)
    if kind in alone.by_type:
        assert why_none(alone, NOW, kind) == why_none(beside, NOW, kind)


@given(clusters())
def test_no_type_could_get_more_than_the_whole_cluster(answers: Answers) -> None:
    found = judge(answers, NOW)
    for each in found.by_type.values():
        for name in ("spares", "reserved", "reserved_free", "headroom"):
            assert getattr(each, name) <= getattr(found, name)
        assert each.refused_at is None or found.refused_at is not None
