"""Counts do not depend on the order of what is counted, and a window is fulfilled once."""

import json
import random
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.measures import Fulfilled, Measure
from policies.occurrences import Point
from policies.windows import Counter

SECOND, MINUTE = 1000, 60_000
ONCE = Measure(at_least=1, within=30 * SECOND, occurrence=30 * SECOND)
THRICE = Measure(at_least=3, within=60 * MINUTE, occurrence=30 * SECOND)
HUNDRED = Measure(at_least=100, within=60 * MINUTE, occurrence=0)
JOBS = Measure(at_least=2, within=60 * MINUTE, occurrence=30 * SECOND, distinct=True)
BEGIN = 1_700_000_000_000


def tell(counter: Counter, measure: Measure, moments: Iterable[int], count: int = 1) -> list[Fulfilled]:
    for moment in moments:
        counter.add(measure, BEGIN + moment, count, f"e{moment}")
    return counter.fulfilled(measure, 1)


def starts(found: Sequence[Fulfilled]) -> list[int]:
    return [one.start - BEGIN for one in found]


def test_companions_within_the_occurrence_are_one() -> None:
    assert starts(tell(Counter(1), ONCE, [0, 200, 29 * SECOND])) == [0]
    assert starts(tell(Counter(1), ONCE, [0, 31 * SECOND])) == [0, 31 * SECOND]


def test_a_lasting_fault_is_told_each_occurrence_and_not_each_event() -> None:
    counter = Counter(1)
    told = [start for at in range(0, 600 * SECOND, 5 * SECOND) for start in starts(tell(counter, ONCE, [at]))]
    assert len(told) in range(15, 21)
    assert len(set(told)) == len(told)
    assert len(json.dumps(counter.dump())) < 3000


def test_three_occurrences_within_the_hour_and_not_three_events() -> None:
    counter = Counter(1)
    assert tell(counter, THRICE, [0, 1 * SECOND, 2 * SECOND]) == []
    assert tell(counter, THRICE, [10 * MINUTE]) == []
    assert starts(tell(counter, THRICE, [20 * MINUTE])) == [0]


def test_three_occurrences_in_more_than_the_hour_are_not_enough() -> None:
    assert tell(Counter(1), THRICE, [0, 31 * MINUTE, 61 * MINUTE]) == []


def test_a_fourth_occurrence_is_news_and_its_window_another() -> None:
    counter = Counter(1)
    tell(counter, THRICE, [0, 10 * MINUTE, 20 * MINUTE])
    (again,) = tell(counter, THRICE, [30 * MINUTE])
    assert (again.start - BEGIN, again.end - BEGIN) == (10 * MINUTE, 30 * MINUTE)
    assert again.event_ids == ("e600000", "e1200000", "e1800000")


def test_without_occurrence_the_events_counts_add_up() -> None:
    counter = Counter(1)
    assert tell(counter, HUNDRED, [0], count=60) == []
    (found,) = tell(counter, HUNDRED, [10 * MINUTE], count=40)
    assert (found.start - BEGIN, found.count) == (0, 100)
    assert tell(counter, HUNDRED, [11 * MINUTE], count=500) == []


def test_distinct_counts_values_and_not_times() -> None:
    counter = Counter(1)
    for at in (0, MINUTE, 2 * MINUTE):
        counter.add(JOBS, BEGIN + at, 1, "e", "train/a")
    assert counter.fulfilled(JOBS, 1) == []
    counter.add(JOBS, BEGIN + 3 * MINUTE, 1, "e", "train/b")
    assert len(counter.fulfilled(JOBS, 1)) == 3


class Roundabout(Counter):
    """Counts as ever, and takes no short cut."""

    def _is_first(self, revision: int) -> bool:
        return super()._is_first(revision) and False


ADDED = st.lists(st.tuples(st.integers(0, 20 * SECOND), st.integers(1, 40), st.sampled_from("abc")), max_size=6)


@given(ADDED, st.sampled_from([ONCE, THRICE, HUNDRED, JOBS]))
def test_the_short_ways_tell_and_keep_what_the_long_ones_do(
    added: list[tuple[int, int, str]], measure: Measure
) -> None:
    short, long = Counter(1), Roundabout(1, [Point(BEGIN + at, BEGIN + at, times, name) for at, times, name in added])
    for at, count, name in added:
        short.add(measure, BEGIN + at, count, name)
    assert short.fulfilled(measure, 1) == long.fulfilled(measure, 1)
    assert short.dump() == long.dump()


def test_what_was_told_is_not_told_again_after_it_was_stored() -> None:
    counter = Counter(1)
    tell(counter, ONCE, [0])
    stored = Counter.load(json.loads(json.dumps(counter.dump())))
    assert tell(stored, ONCE, [5 * SECOND]) == []


def test_a_new_revision_may_tell_again() -> None:
    counter = Counter(1)
    tell(counter, ONCE, [0])
    counter.add(ONCE, BEGIN + 5 * SECOND, 1, "e")
    assert starts(counter.fulfilled(ONCE, 2)) == [0]
    assert counter.revision == 2


def test_an_edited_grain_keeps_what_was_counted() -> None:
    counter = Counter(1)
    tell(counter, THRICE, [0, 10 * MINUTE])
    stored = Counter.load(counter.dump())
    coarser = Measure(at_least=3, within=60 * MINUTE, occurrence=60 * SECOND)
    assert starts(tell(stored, coarser, [20 * MINUTE])) == [0]


def test_old_occurrences_leave() -> None:
    counter = Counter(1)
    tell(counter, THRICE, [0])
    tell(counter, THRICE, [3 * 60 * MINUTE])
    assert [point[0] - BEGIN for point in counter.dump()[1]] == [3 * 60 * MINUTE]


MOMENTS = st.lists(st.integers(0, 12 * MINUTE).map(lambda ms: ms // 500 * 500), min_size=1, max_size=25)


@given(MOMENTS, st.randoms(use_true_random=False), st.sampled_from([ONCE, THRICE, HUNDRED]))
def test_what_is_kept_does_not_depend_on_the_order(moments: list[int], chance: random.Random, measure: Measure) -> None:
    measure = Measure(measure.at_least, 10 * MINUTE, measure.occurrence)
    shuffled = list(moments)
    chance.shuffle(shuffled)
    one, other = Counter(1), Counter(1)
    together = tell(one, measure, moments)
    assert tell(other, measure, shuffled) == together
    assert other.dump() == one.dump()


@given(MOMENTS, st.integers(1, 24))
def test_in_one_go_or_in_two_is_the_same(moments: list[int], cut: int) -> None:
    """As time goes on, what is told in pieces is what would have been told at once."""
    measure = Measure(at_least=2, within=5 * MINUTE, occurrence=30 * SECOND)
    moments.sort()
    whole = Counter(1)
    at_once = starts(tell(whole, measure, moments))
    first = Counter(1)
    told = starts(tell(first, measure, moments[:cut]))
    second = Counter.load(json.loads(json.dumps(first.dump())))
    told += starts(tell(second, measure, moments[cut:]))
    assert sorted(told) == at_once
    assert second.dump() == whole.dump()


@given(MOMENTS, st.randoms(use_true_random=False), st.integers(2, 4))
def test_every_condition_is_told_whatever_came_late(moments: list[int], chance: random.Random, at_least: int) -> None:
    """Pieces in any order: nothing that holds in the end stays untold.

    Something may be told that does not hold any more once a late event has drawn an occurrence further back.
    """
    measure = Measure(at_least=at_least, within=5 * MINUTE, occurrence=30 * SECOND)
    whole = starts(tell(Counter(1), measure, moments))
    shuffled = list(moments)
    chance.shuffle(shuffled)
    counter = Counter(1)
    told: list[int] = []
    for moment in shuffled:
        told += starts(tell(counter, measure, [moment]))
        counter = Counter.load(json.loads(json.dumps(counter.dump())))
    assert told or not whole
    assert [point[0] - BEGIN for point in counter.dump()[1]] == [point[0] - BEGIN for point in _kept(moments, measure)]


def test_a_late_event_that_shifts_the_occurrences_tells_the_window_it_does_not_lie_in() -> None:
    measure = Measure(at_least=3, within=5 * MINUTE, occurrence=30 * SECOND)
    moments = [moment * SECOND for moment in (20, 45, 310, 341, 0)]
    counter = Counter(1)
    assert [starts(tell(counter, measure, [moment])) for moment in moments] == [[], [], [], [], [45 * SECOND]]
    assert starts(tell(Counter(1), measure, moments)) == [45 * SECOND]


def test_an_edited_policy_tells_again_only_where_something_new_lies() -> None:
    before = Counter(1)
    tell(before, ONCE, [0, 2 * MINUTE])
    edited = Counter.load(before.dump())
    edited.add(ONCE, BEGIN + 2 * MINUTE + SECOND, 1, "e")
    assert starts(edited.fulfilled(ONCE, 2)) == [2 * MINUTE]
    after = Counter.load(edited.dump())
    after.add(ONCE, BEGIN + 5 * MINUTE, 1, "e")
    assert starts(after.fulfilled(ONCE, 2)) == [5 * MINUTE]


def _kept(moments: list[int], measure: Measure) -> list[list[int]]:
    counter = Counter(1)
    tell(counter, measure, moments)
    return [list(point) for point in counter.dump()[1]]


@pytest.mark.parametrize("measure", [ONCE, THRICE, JOBS])
def test_a_storm_is_kept_small(measure: Measure) -> None:
    counter = Counter(1)
    for at in range(0, 3000 * SECOND, 700):
        counter.add(measure, BEGIN + at, 9, "e" * 32, "train/a" if measure.distinct else "")
        counter.fulfilled(measure, 1)
    assert len(json.dumps(counter.dump())) < 8000
