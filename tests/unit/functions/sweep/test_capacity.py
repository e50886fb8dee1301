"""What a cluster could still get: what counts, and that each part that fails costs only its own members."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from functions.ports.capacity import Refusal, Reservation, Room
from functions.ports.facts import FactKey
from functions.settings import ClusterSettings
from functions.sweep.capacity_look import CapacityLook
from functions.twins.capacity import MemoryCapacityView
from functions.twins.facts import MemoryFacts
from policies.contract.errors import DependencyError
from policies.facts.capacity import Capacity

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLUSTER = ClusterSettings(name="a", orchestrator="eks", auto_scaling_groups=("one", "two"))


def view() -> MemoryCapacityView:
    """Two groups with room for five more, three warm instances, and four reservations, two of them the cluster's."""
    return MemoryCapacityView(
        groups=[Room("one", 4, 6, has_warm_pool=True), Room("two", 5, 8, reservations=("cr-named",)), Room("x", 0, 99)],
        warm_pools={"one": {"": 3}, "two": {"": 40}},
        reserved=[
            Reservation("cr-tagged", slots=8, free=2, cluster="a"),
            Reservation("cr-other", slots=50, free=50, cluster="b"),
            Reservation("cr-named", slots=4, free=1),
            Reservation("cr-lived-in", slots=2, free=1),
            Reservation("cr-nobodys", slots=70, free=70),
        ],
        inside={"cr-lived-in": ["two"], "cr-nobodys": ["x"]},
    )


def looked(seen: MemoryCapacityView, cluster: ClusterSettings = CLUSTER) -> Capacity:
    facts = MemoryFacts()
    CapacityLook(seen, facts, lambda: NOW).look([cluster], NOW)
    return kept(facts, "a")


def kept(facts: MemoryFacts, cluster: str) -> Capacity:
    return Capacity.model_validate_json(facts.texts[FactKey(cluster, "capacity")])


def test_warm_instances_free_slots_and_room_of_the_clusters_own_are_counted() -> None:
    assert looked(view()) == Capacity(at=NOW, spares=3, reserved=14, reserved_free=4, headroom=5)


def test_groups_that_no_setting_names_are_found_by_their_tag() -> None:
    seen = view()
    seen.of = {"a": ["two"]}
    found = looked(seen, ClusterSettings(name="a", orchestrator="eks"))
    assert (found.headroom, found.spares) == (3, 0)


def test_a_cluster_without_reservations_has_none_free_and_that_is_known() -> None:
    seen = view()
    seen.reserved = []
    assert (looked(seen).reserved, looked(seen).reserved_free) == (0, 0)


@pytest.mark.parametrize(("left", "free"), [(timedelta(minutes=59), 0), (timedelta(minutes=61), 2)])
def test_slots_of_a_block_in_its_last_hour_are_not_free(left: timedelta, free: int) -> None:
    seen = view()
    seen.reserved = [replace(seen.reserved[0], ends_at=NOW + left)]
    found = looked(seen)
    assert (found.reserved, found.reserved_free) == (8, free)


def test_the_newest_refused_launch_is_told() -> None:
    seen = view()
    seen.refusals = {"one": Refusal(NOW - timedelta(hours=2), "old"), "two": Refusal(NOW - timedelta(minutes=2), "new")}
    found = looked(seen)
    assert (found.refused, found.refused_at) == ("new", NOW - timedelta(minutes=2))


@pytest.mark.parametrize(
    ("call", "unknown"),
    [
        ("rooms", {"headroom", "spares", "reserved_free"}),
        ("warm", {"spares"}),
        ("reservations", {"reserved_free"}),
        ("lived_in", {"reserved_free"}),
        ("refusal", {"refused_at"}),
    ],
)
def test_a_part_that_fails_leaves_its_members_unknown_and_says_why(call: str, unknown: set[str]) -> None:
    seen = view()
    seen.failing = {call}
    found = looked(seen)
    assert set(found.unknown) == unknown
    assert all(f"{call} fails" in why for why in found.unknown.values())
    whole = looked(view())
    for name in ("headroom", "spares", "reserved_free"):
        assert getattr(found, name) == (None if name in unknown else getattr(whole, name))


def test_a_cluster_of_which_no_group_is_known_has_no_known_capacity() -> None:
    found = looked(MemoryCapacityView())
    assert (found.headroom, found.spares, found.reserved_free) == (None, None, None)
    assert "no Auto Scaling group" in found.unknown["headroom"]


def test_whoever_is_slow_leaves_the_rest_unknown_and_nobody_waits() -> None:
    seen, facts, now = view(), MemoryFacts(), [NOW]

    def clock() -> datetime:
        now[0] += timedelta(seconds=4)
        return now[0]

    CapacityLook(seen, facts, clock).look([CLUSTER], NOW)
    assert len(seen.asked) == 3
    found = kept(facts, "a")
    assert (found.headroom, found.spares, found.reserved_free) == (5, 3, None)
    assert "no time left" in found.unknown["reserved_free"]


@pytest.mark.parametrize("failing", [set(), {"reservations"}])
def test_reservations_are_asked_for_once_for_all_clusters_and_who_lives_in_them_once_a_cluster(
    failing: set[str],
) -> None:
    seen, facts = view(), MemoryFacts()
    seen.failing = failing
    other = ClusterSettings(name="b", orchestrator="eks", auto_scaling_groups=("x",))
    CapacityLook(seen, facts, lambda: NOW).look([CLUSTER, other], NOW)
    assert seen.asked.count("reservations") == 1
    assert seen.asked.count("lived_in") == (0 if failing else 2)
    assert kept(facts, "b").reserved_free == (None if failing else 120)
    assert kept(facts, "a").reserved_free == (None if failing else 4)


class Refusing(MemoryFacts):
    """A table of which one partition is away."""

    def keep(self, key: FactKey, text: str, expires: datetime) -> None:
        if key.cluster == "a":
            raise DependencyError("not now.")
        super().keep(key, text, expires)


def test_a_table_that_refuses_one_cluster_keeps_the_others() -> None:
    facts = Refusing()
    other = ClusterSettings(name="b", orchestrator="eks", auto_scaling_groups=("x",))
    with pytest.raises(DependencyError, match="not now"):
        CapacityLook(view(), facts, lambda: NOW).look([CLUSTER, other], NOW)
    assert kept(facts, "b").headroom == 99
