"""What many nodes contribute is counted once, in any order, however it is cut into messages, within bounds."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import Contribution, WideRule
from policies.coordination.windows import MOST_POINTS, MOST_TAKEN, MOST_TELLERS, Window, count
from tests.tools.incidents import CLUSTER
from tests.tools.wide import contribution, in_one, wide_rule

DISTINCT = wide_rule()
SUM = wide_rule(distinct=False, at_least=10, within_ms=120_000)
OCCURRENCES = wide_rule(distinct=False, at_least=3, occurrence_ms=30_000)
ALIKE = wide_rule(distinct=False, at_least=2, same="job.step")
APART = wide_rule(at_least=2, same="job.step", occurrence_ms=60_000)


def counted(
    *batches: Sequence[Contribution], rule: WideRule = DISTINCT, window: Window | None = None
) -> tuple[Window, list[int]]:
    """Return the window after *batches*, and the beginnings of what they fulfilled, in seconds."""
    found: list[int] = []
    for batch in batches:
        result = count(window, in_one(batch, rule), CLUSTER)
        window = Window.model_validate_json(result.window.model_dump_json(exclude_none=True))  # as the table keeps it
        assert window == result.window
        found += [one.window.start for one in result.found]
    assert window is not None
    return window, found


def test_the_third_node_within_ten_minutes_fulfils_it() -> None:
    two = [contribution("i-1"), contribution("i-2", 30), contribution("i-1", 40, seq=1)]
    _, found = counted(two)
    assert found == []
    _, found = counted(two, [contribution("i-3", 300)])
    assert len(found) == 1


def test_the_third_node_after_ten_minutes_does_not() -> None:
    _, found = counted([contribution("i-1"), contribution("i-2", 30), contribution("i-3", 601)])
    assert found == []


def test_more_nodes_say_nothing_new() -> None:
    nodes = [contribution(f"i-{number}", number) for number in range(300)]
    _, found = counted(nodes[:100], nodes[100:200], nodes[200:])
    assert len(found) == 1


@pytest.mark.parametrize("rule", [DISTINCT, SUM, OCCURRENCES])
def test_a_repeat_counts_once(rule: WideRule) -> None:
    batch = [contribution("i-1", count=9), contribution("i-2", 31)]
    once, _ = counted(batch, rule=rule)
    again, found = counted(batch, batch, batch[1:], rule=rule)
    assert again == once
    assert len(found) == (rule is SUM)


def test_counts_of_events_add_up() -> None:
    _, found = counted([contribution("i-1", count=5), contribution("i-2", 10, count=4)], rule=SUM)
    assert found == []
    _, found = counted([contribution("i-1", count=5), contribution("i-2", 10, count=5)], rule=SUM)
    assert len(found) == 1


def test_what_is_told_again_while_it_lasts_is_the_same_occurrence() -> None:
    onset = contribution("i-1")
    ongoing = [contribution("i-1", 900 * n, seq=n, occurrence=onset.event_id, since=0) for n in range(1, 5)]
    window, found = counted(
        [onset], *([one] for one in ongoing), [contribution("i-2", 3000), contribution("i-3", 3001)]
    )
    assert found == []
    assert window.newest == ongoing[-1].moment_ms


def test_an_edited_policy_counts_by_its_new_words_and_tells_again() -> None:
    nodes = [contribution(f"i-{number}", number) for number in range(3)]
    _, found = counted(nodes)
    assert len(found) == 1
    window, found = counted(nodes)
    stricter = wide_rule(revision=2, at_least=4)
    window, found = counted([contribution("i-9", 20)], rule=stricter, window=window)
    assert len(found) == 1
    assert window.rule == stricter
    # What triage sent before it knew of the edit is counted by the edit as well.
    late, _ = counted([contribution("i-8", 21)], rule=DISTINCT, window=window)
    assert late.rule == stricter


def test_what_came_too_late_for_any_window_is_not_counted() -> None:
    window, _ = counted([contribution("i-1", 7200)])
    late, found = counted([contribution("i-2", 0), contribution("i-3", 1)], window=window)
    assert late == window
    assert found == []


def test_a_storm_of_ten_thousand_nodes_stays_small() -> None:
    at_once = [contribution(f"i-{number:017x}", number // 500) for number in range(10_000)]
    window, found = counted(*(at_once[start : start + 200] for start in range(0, 10_000, 200)))
    assert len(found) == 1
    assert len(window.counter[1]) <= MOST_POINTS
    assert len(window.taken) <= MOST_TAKEN
    assert len(window.tellers) == MOST_TELLERS
    assert len(window.model_dump_json()) < 120_000


def test_what_lasts_on_ten_thousand_nodes_stays_small() -> None:
    def told(number: int, seconds: float) -> Contribution:
        return contribution(f"i-{number:017x}", seconds, seq=int(seconds), occurrence=f"{number:032x}", since=0)

    batches = [[told(number, 60 * minute) for number in range(1000)] for minute in range(1, 4)]
    window, _ = counted(*batches)
    assert len(window.counter[3]) <= MOST_POINTS
    assert len(window.model_dump_json()) < 150_000


def test_beyond_the_bound_nothing_counts_twice() -> None:
    many = [contribution("i-1", number / 10, seq=number) for number in range(MOST_TAKEN + 200)]
    rule = wide_rule(distinct=False, at_least=1_000_000, within_ms=600_000)
    window, _ = counted(*(many[start : start + 100] for start in range(0, len(many), 100)), rule=rule)
    again, _ = counted(*(many[start : start + 100] for start in range(0, len(many), 100)), rule=rule, window=window)
    assert again == window
    assert sum(point[2] for point in window.counter[1]) == len(many)


@st.composite
def _stories(draw: st.DrawFn) -> list[Contribution]:
    return [
        contribution(
            f"i-{draw(st.integers(1, 6))}",
            draw(st.integers(0, 1500)),
            seq=1000 + number,
            count=draw(st.integers(1, 4)),
            same=draw(st.sampled_from(["900", "1000", "1100"])),
        )
        for number in range(draw(st.integers(1, 16)))
    ]


@settings(max_examples=200)
@given(_stories(), st.randoms(use_true_random=False), st.sampled_from([DISTINCT, SUM, OCCURRENCES, ALIKE, APART]))
def test_order_repetition_and_cuts_change_nothing(
    story: list[Contribution], chance: random.Random, rule: WideRule
) -> None:
    straight, found = counted(story, rule=rule)
    mixed = [*story, *story]
    chance.shuffle(mixed)
    cuts = sorted({0, len(mixed), *(chance.randint(0, len(mixed)) for _ in range(4))})
    batches = [mixed[one:two] for one, two in pairwise(cuts) if two > one]
    again, found_mixed = counted(*batches, rule=rule)
    assert again == straight
    assert bool(found_mixed) == bool(found) or not found  # a late event may join what was two occurrences
