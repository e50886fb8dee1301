"""Received numbers are a set: order and repeats do not matter, and what is missing is told once."""

import json
import random

from hypothesis import given
from hypothesis import strategies as st

from policies.sequences import MOST_RANGES, Gap, Sequences

NUMBERS = st.lists(st.integers(0, 40), max_size=40)


def received(numbers: list[int]) -> Sequences:
    spool = Sequences("s")
    for number in numbers:
        spool.take(number)
    return spool


@given(NUMBERS)
def test_a_number_is_new_exactly_once(numbers: list[int]) -> None:
    spool = Sequences("s")
    known: set[int] = set()
    for number in numbers:
        assert spool.has(number) is (number in known)
        assert spool.take(number) is (number not in known)
        known.add(number)


@given(NUMBERS, st.randoms(use_true_random=False))
def test_order_and_repeats_do_not_matter(numbers: list[int], chance: random.Random) -> None:
    shuffled = [*numbers, *numbers]
    chance.shuffle(shuffled)
    assert received(shuffled).dump() == received(numbers).dump()


@given(NUMBERS, NUMBERS)
def test_what_is_written_is_read_back(before: list[int], after: list[int]) -> None:
    stored = Sequences.load("s", json.loads(json.dumps(received(before).dump())))
    for number in after:
        stored.take(number)
    assert stored.dump() == received([*before, *after]).dump()


def test_a_gap_is_told_once_and_only_after_some_minutes() -> None:
    spool = received([0, 1, 4, 5])
    spool.claim(6)
    assert spool.look_for_gaps(1000, 300) == []
    assert spool.look_for_gaps(1299, 300) == []
    assert spool.look_for_gaps(1300, 300) == [Gap("s", 2, 3, 1000)]
    assert spool.look_for_gaps(9999, 300) == []


def test_a_gap_that_closes_in_time_is_never_told() -> None:
    spool = received([0, 3])
    spool.claim(4)
    spool.look_for_gaps(1000, 300)
    assert spool.take(2)
    assert spool.take(1)
    assert spool.look_for_gaps(2000, 300) == []


def test_a_gap_keeps_its_age_when_a_part_of_it_arrives() -> None:
    spool = received([0, 9])
    spool.claim(10)
    spool.look_for_gaps(1000, 300)
    spool.take(5)
    assert spool.look_for_gaps(1300, 300) == [Gap("s", 1, 4, 1000), Gap("s", 6, 8, 1000)]


def test_what_was_told_as_lost_is_still_new_when_it_comes() -> None:
    spool = received([0, 2])
    spool.claim(3)
    spool.look_for_gaps(0, 0)
    assert spool.take(1)


def test_a_lane_that_overtakes_claims_nothing_and_so_leaves_no_gap() -> None:
    spool = received([0, 7, 9])
    spool.claim(1)
    assert spool.look_for_gaps(10_000, 0) == []


def test_a_heartbeat_shows_that_the_tail_is_missing() -> None:
    spool = received([0, 1])
    spool.claim(5)
    assert spool.look_for_gaps(100, 0) == [Gap("s", 2, 4, 100)]


def test_the_beginning_can_be_missing_too() -> None:
    spool = received([3])
    spool.claim(4)
    assert spool.look_for_gaps(100, 0) == [Gap("s", 0, 2, 100)]


def test_ranges_stay_bounded_and_what_is_given_up_is_told() -> None:
    spool = received(list(range(0, 4 * MOST_RANGES, 2)))
    spool.claim(4 * MOST_RANGES)
    lost = spool.look_for_gaps(50, 300)
    assert len(lost) == MOST_RANGES
    assert lost[0] == Gap("s", 1, 1, 50)
    assert len(spool.dump()[0]) == MOST_RANGES
    assert spool.look_for_gaps(51, 300) == []


def test_a_whole_spool_changes_nothing_when_it_is_heard_again() -> None:
    spool = Sequences.load("s", received([0, 1, 2]).dump())
    spool.claim(3)
    spool.changed = False
    assert not spool.take(1)
    spool.claim(3)
    assert spool.look_for_gaps(100, 0) == []
    assert not spool.changed
