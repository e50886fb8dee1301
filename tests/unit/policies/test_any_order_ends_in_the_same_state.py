"""A node's batch is judged the same in any order and however often it comes."""

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.evaluator import Delivery, evaluate
from policies.rulebook import Rulebook
from tests.tools.envelopes import GPU, at, delivery, event, policy, rules, shipped
from tests.tools.judging import OTHER_GPU, ids


@st.composite
def _stories(draw: st.DrawFn) -> list[Delivery]:
    """Events of one spool in envelopes as an agent cuts them, some on the other lane as well."""
    seconds = sorted(draw(st.lists(st.integers(0, 600), min_size=1, max_size=14)))
    events = [
        event(
            seq,
            moment,
            xid=draw(st.sampled_from([79, 63, 13])),
            component=draw(st.sampled_from([GPU, OTHER_GPU, None])),
            count=draw(st.integers(1, 3)),
        )
        for seq, moment in enumerate(seconds)
    ]
    cuts = sorted({0, len(events), *draw(st.lists(st.integers(0, len(events)), max_size=4))})
    parts = [delivery(*events[one:two], arrived=600, sent=600) for one, two in pairwise(cuts)]
    urgent = [one for one in events if draw(st.booleans())]
    return [*parts, *([delivery(*urgent, arrived=600, sent=600, in_order=False)] if urgent else [])]


def _one_by_one(deliveries: list[Delivery], book: Rulebook) -> tuple[str, set[str], int]:
    state, found, counted = "", set[str](), 0
    for one in deliveries:
        judged = evaluate([one], state=state, rulebook=book, now=at(600))
        state, counted = judged.state, counted + judged.events
        found |= set(ids(judged))
    return state, found, counted


BOOKS = [
    shipped(),
    rules(policy(count={"at_least": 2, "within": "5m", "occurrence": "30s"})),
    rules(policy(count={"at_least": 4, "within": "5m", "per": "node"}), policy(name="any", when="event.count > 1")),
]


@settings(max_examples=150)
@given(_stories(), st.randoms(use_true_random=False), st.sampled_from(range(3)))
def test_any_order_and_any_repeats_end_in_the_same_state(
    story: list[Delivery], chance: random.Random, which: int
) -> None:
    book = BOOKS[which]
    shuffled = [*story, *story]
    chance.shuffle(shuffled)
    straight, told, counted = _one_by_one(story, book)
    mixed, _told, counted_mixed = _one_by_one(shuffled, book)
    assert mixed == straight
    assert counted_mixed == counted
    at_once = evaluate(shuffled, state="", rulebook=book, now=at(600))
    assert at_once.state == straight
    assert set(ids(at_once)) <= told


@settings(max_examples=60)
@given(_stories(), st.randoms(use_true_random=False))
def test_one_batch_has_the_same_findings_in_any_order(story: list[Delivery], chance: random.Random) -> None:
    shuffled = [*story, *story]
    chance.shuffle(shuffled)
    straight = evaluate(story, state="", rulebook=BOOKS[0], now=at(600))
    mixed = evaluate(shuffled, state="", rulebook=BOOKS[0], now=at(600))
    assert sorted(one.to_json() for one in mixed.findings) == sorted(one.to_json() for one in straight.findings)
