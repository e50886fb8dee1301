"""A state that goes on without its text is the same as one that is written and read after each batch."""

import random
from datetime import datetime, timedelta

import pytest

from policies.evaluator import Delivery, Evaluation, evaluate
from policies.rulebook import Rulebook
from policies.warm_state import WarmState
from tests.tools.envelopes import GPU, at, delivery, event, policy, rules, shipped
from tests.tools.judging import OTHER_GPU

BOOKS = [
    shipped(),
    rules(policy(count={"at_least": 2, "within": "5m", "occurrence": "30s"})),
    rules(policy(count={"at_least": 900, "within": "2h", "per": "node"}), policy(name="any", when="event.count > 1")),
    rules(policy(count={"at_least": 2, "within": "10m", "same": "event.attributes.pid"})),
]
CODES = (74, 63, 79, 13)


def _story(chance: random.Random) -> list[Delivery]:
    """Days of a node: storms, silence, heartbeats, gaps in its numbers, other senders, and what comes late."""
    told, second, seq = [], 0, 0
    for _ in range(120):
        second += chance.choice((1, 10, 60, 60, 900, 7_200))
        events = []
        for _ in range(chance.choice((0, 0, 1, 2, 5))):
            seq += chance.choice((1, 1, 1, 1, 3))
            moment = max(second - chance.choice((0, 0, 0, 30, 2_000)), 0)
            part = chance.choice((GPU, OTHER_GPU, None))
            xid, pid, count = chance.choice(CODES), {"pid": chance.randrange(30)}, chance.randrange(1, 500)
            events.append(event(seq, moment, xid=xid, attributes=pid, component=part, count=count))
        spool = chance.choice(("spool", "spool", "spool", f"spool-{chance.randrange(40)}"))
        first = events[0].seq if events else seq + 1
        ordered = chance.random() < 0.9
        told.append(delivery(*events, arrived=second, in_order=ordered, sent=second, spool=spool, first_seq=first))
    return told


@pytest.mark.parametrize("seed", range(12))
def test_a_state_that_goes_on_is_what_its_text_would_be(seed: int) -> None:
    chance = random.Random(seed)
    book = BOOKS[seed % len(BOOKS)]
    story = _story(chance)
    text, warm, told_nothing = "", WarmState(), 0
    for number, one in enumerate([*story, *chance.sample(story, 40)]):
        book = chance.choice(BOOKS) if chance.random() < 0.02 else book
        envelope, now = one.parsed.envelope, at(number * 60)
        tells_nothing = not envelope.events and warm.is_told(envelope.spool_id, envelope.first_seq)
        read, gone_on = _judge(one, text, book, now), _judge(one, warm, book, now)
        assert _told(gone_on) == _told(read)
        text = read.state
        assert warm.text == text or not text
        if tells_nothing:
            told_nothing += 1
            assert not read.changed
            assert not _judge(one, text, book, now + timedelta(days=1)).changed
    assert told_nothing


def _judge(one: Delivery, state: str | WarmState, book: Rulebook, now: datetime) -> Evaluation:
    return evaluate([one], state=state, rulebook=book, now=now)


def _told(one: Evaluation) -> tuple[object, ...]:
    return one.changed, one.findings, one.contributions, one.gaps, one.events, one.dropped_counters
