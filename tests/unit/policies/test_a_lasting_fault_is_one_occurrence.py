"""A condition that is told again while it holds is fresh evidence of the same occurrence, and never another one."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.events import FaultEvent
from policies.contract.vocabulary import Kind
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.rulebook import Rulebook
from tests.tools.envelopes import at, delivery, event, policy, rules
from tests.tools.judging import ids, judge

MINUTE, HOUR = 60, 3600
OVERHEATED = 'event.kind == "gpu.overheated"'
THRICE = {"at_least": 3, "within": "1h", "occurrence": "30s"}


def onset(seq: int, seconds: float = 0) -> FaultEvent:
    return event(seq, seconds, kind=Kind.GPU_OVERHEATED)


def repeat(seq: int, seconds: float, of: FaultEvent, *, since: float = 0) -> FaultEvent:
    """Return *of* told again, as `agent.polls.work` does."""
    again = event(seq, seconds, kind=Kind.GPU_OVERHEATED, attributes={"ongoing": True, "occurrence": of.id})
    return again.model_copy(update={"first_observed_at": at(since)})


def book(revision: int = 1, **changes: object) -> Rulebook:
    return rules(policy(when=OVERHEATED, **changes), revision=revision)


def told(*story: FaultEvent, rulebook: Rulebook | None = None, state: str = "") -> list[Evaluation]:
    """Judge each event in a batch of its own."""
    judged: list[Evaluation] = []
    for one in story:
        now = (one.observed_at - at(0)).total_seconds()
        judged.append(judge(delivery(one), rulebook=rulebook or book(), state=state, now=now + 1))
        state = judged[-1].state
    return judged


def test_a_repeat_ten_minutes_later_makes_no_second_finding() -> None:
    first = onset(0)
    judged = told(first, *(repeat(number, number * 10 * MINUTE, first) for number in range(1, 40)))
    assert [len(one.findings) for one in judged] == [1] + [0] * 39
    assert len(judged[-1].state) < 500


def test_a_repeat_every_six_hours_is_still_the_same() -> None:
    first = onset(0)
    judged = told(first, repeat(1, 6 * HOUR, first), repeat(2, 12 * HOUR, first))
    assert [len(one.findings) for one in judged] == [1, 0, 0]


def test_the_same_fault_after_it_was_over_is_another_one() -> None:
    first, second = onset(0), onset(2, 20 * MINUTE)
    again = repeat(3, 30 * MINUTE, second, since=20 * MINUTE)
    judged = told(first, repeat(1, 10 * MINUTE, first), second, again)
    assert [len(one.findings) for one in judged] == [1, 0, 1, 0]


def test_repeats_are_no_occurrences_and_no_counts() -> None:
    first = onset(0)
    story = (first, *(repeat(number, number * 10 * MINUTE, first) for number in range(1, 6)))
    assert [one.findings for one in told(*story, rulebook=book(count=THRICE))] == [()] * 6
    assert [one.findings for one in told(*story, rulebook=book(count={"at_least": 2, "within": "1h"}))] == [()] * 6


def test_a_lasting_occurrence_is_one_of_three_and_its_repeat_the_newest_evidence() -> None:
    first, second, third = onset(0), onset(2, 12 * MINUTE), onset(3, 20 * MINUTE)
    story = (first, repeat(1, 10 * MINUTE, first), second, third)
    judged = told(*story, rulebook=book(count=THRICE))
    assert [len(one.findings) for one in judged] == [0, 0, 0, 1]
    (finding,) = judged[-1].findings
    assert (finding.window_start, finding.count) == (at(0), 3)
    late = told(first, second, third, repeat(4, 30 * MINUTE, first), rulebook=book(count=THRICE))
    assert [len(one.findings) for one in late] == [0, 0, 1, 0]


def test_a_repeat_whose_onset_never_came_tells_once() -> None:
    lost = onset(0)
    judged = told(repeat(1, 10 * MINUTE, lost), repeat(2, 20 * MINUTE, lost), repeat(3, 5 * HOUR, lost))
    assert [len(one.findings) for one in judged] == [1, 0, 0]
    assert judged[0].findings[0].event_ids == (lost.id,)


def test_an_onset_that_comes_after_its_repeat_is_the_same_occurrence() -> None:
    first = onset(0)
    judged = told(repeat(1, 10 * MINUTE, first), first, repeat(2, 20 * MINUTE, first))
    assert [len(one.findings) for one in judged] == [1, 0, 0]


def test_an_onset_that_was_merged_with_others_of_its_seconds_is_still_known() -> None:
    before, first = onset(0), onset(1, 2)
    judged = told(before, first, repeat(2, 10 * MINUTE, first, since=2))
    assert [len(one.findings) for one in judged] == [1, 0, 0]


def test_an_edited_policy_tells_of_what_still_lasts_and_once() -> None:
    first = onset(0)
    before = told(first, repeat(1, 10 * MINUTE, first))
    edited = told(
        repeat(2, 20 * MINUTE, first), repeat(3, 30 * MINUTE, first), rulebook=book(2), state=before[-1].state
    )
    assert [len(one.findings) for one in edited] == [1, 0]
    (finding,) = edited[0].findings
    assert (finding.window_start, finding.observed_at, finding.late) == (at(0), at(20 * MINUTE), False)


def test_a_policy_that_is_new_tells_of_what_already_lasts() -> None:
    other = book(name="other")
    first = onset(0)
    state = told(first, rulebook=other)[0].state
    assert [len(one.findings) for one in told(repeat(1, 10 * MINUTE, first), state=state)] == [1]


def test_companions_by_name_are_one_by_time_and_the_next_error_of_the_same_part_is_another() -> None:
    named = [
        event(seq, seconds, xid=94, attributes={"occurrence": "memory:0000:53:00"})
        for seq, seconds in enumerate((0, 3, 600, 603, 1200))
    ]
    thrice = rules(policy(when="event.attributes.xid == 94", count=THRICE))
    judged = [judge(delivery(*named[:end]), rulebook=thrice, now=1201) for end in (4, 5)]
    assert [len(one.findings) for one in judged] == [0, 1]


def test_a_storm_of_occurrences_is_kept_small() -> None:
    story = [repeat(number, number * 7, onset(number, -1)) for number in range(400)]
    assert len(told(*story)[-1].state) < 6000


def test_junk_for_an_occurrence_stops_nothing() -> None:
    junk: list[str | int | float | bool] = [True, 2, 0.5, "x" * 5000, ""]
    events = [
        event(seq, seq * 40, kind=Kind.GPU_OVERHEATED, attributes={"ongoing": True, "occurrence": one})
        for seq, one in enumerate(junk)
    ]
    found = judge(delivery(*events), rulebook=book(), now=200)
    assert found.findings
    assert len(found.state) < 1000


@st.composite
def stories(draw: st.DrawFn) -> list[Delivery]:
    """Conditions that begin, are told again and end, on one GPU within the lateness."""
    events: list[FaultEvent] = []
    begin = 0
    while len(events) < 10 and begin < 500:
        first = onset(len(events), begin)
        events.append(first)
        for _ in range(draw(st.integers(0, 3))):
            later = (events[-1].observed_at - at(0)).total_seconds() + draw(st.integers(1, 90))
            events.append(repeat(len(events), later, first, since=begin))
        begin = int((events[-1].observed_at - at(0)).total_seconds()) + draw(st.integers(1, 90))
    return [delivery(one, sent=800, arrived=800) for one in events if draw(st.integers(0, 9))]


BOOKS = [book(), book(count={**THRICE, "at_least": 2}), book(count={"at_least": 3, "within": "5m", "per": "node"})]


@settings(max_examples=120)
@given(stories(), st.randoms(use_true_random=False), st.sampled_from(range(3)))
def test_any_order_and_any_repeats_of_the_deliveries_end_in_the_same_state(
    story: list[Delivery], chance: random.Random, which: int
) -> None:
    def one_by_one(deliveries: list[Delivery]) -> tuple[str, set[str]]:
        state, found = "", set[str]()
        for one in deliveries:
            judged = evaluate([one], state=state, rulebook=BOOKS[which], now=at(800))
            state, found = judged.state, found | set(ids(judged))
        return state, found

    shuffled = [*story, *story]
    chance.shuffle(shuffled)
    straight, in_order = one_by_one(story)
    mixed, _ = one_by_one(shuffled)
    assert mixed == straight
    at_once = evaluate(shuffled, state="", rulebook=BOOKS[which], now=at(800))
    assert at_once.state == straight
    assert set(ids(at_once)) <= in_order
