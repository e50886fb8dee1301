"""A state that goes on without its text is the same as one that is written and read after each batch."""

import random
from datetime import datetime, timedelta

import pytest

from policies.contract.events import Component, FaultEvent
from policies.contract.vocabulary import ComponentType, Kind
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.rulebook import Rulebook
from policies.warm_state import WarmState
from tests.tools.envelopes import GPU, at, delivery, event, node, policy, rules, shipped
from tests.tools.judging import OTHER_GPU

BOOKS = [
    shipped(),
    rules(policy(count={"at_least": 2, "within": "5m", "occurrence": "30s"})),
    rules(policy(count={"at_least": 900, "within": "2h", "per": "node"}), policy(name="any", when="event.count > 1")),
    rules(policy(count={"at_least": 2, "within": "10m", "same": "event.attributes.pid"})),
]
CODES = (74, 63, 79, 13)
HOT = 'event.kind in ["gpu.overheated", "gpu.slowdown"]'
LASTING = [
    rules(policy(**{"when": HOT, "for": "5m"}), policy(name="any", when="event.count > 1")),
    rules(policy(**{"when": HOT, "for": "40m", "count": {"per": "node"}}), policy(name="short", when=HOT), revision=2),
    shipped(),
]
PARTS = [
    GPU,
    OTHER_GPU,
    Component(type=ComponentType.GPU, uuid="GPU-1"),
    GPU.model_copy(update={"uuid": "GPU-1"}),
    *(Component(type=ComponentType.GPU, pci=f"0000:{number:02x}:00") for number in range(40, 80)),
]


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
        read = _judged_alike(one, text, warm, book, now)
        text = read.state
        if tells_nothing:
            told_nothing += 1
            assert not read.changed
            assert not _judge(one, text, book, now + timedelta(days=1)).changed
    assert told_nothing


def _lasting_story(chance: random.Random) -> list[Delivery]:
    """Hours of a node that gets hot: conditions begin, are told again, end by name or kind; it boots, and is silent."""
    told, second, seq, boot, begun = [], 0, 0, "boot", list[FaultEvent]()
    parts = PARTS[:3] if chance.random() < 0.5 else PARTS
    for _ in range(150):
        second += chance.choice((1, 10, 60, 60, 600, 600, 7_200))
        boot, begun = (f"boot-{second}", []) if chance.random() < 0.03 else (boot, begun)
        events = []
        for _ in range(chance.choice((0, 0, 1, 1, 4))):
            seq += 1
            moment = max(second - chance.choice((0, 0, 0, 30, 2_000)), 0)
            kind = chance.choice((Kind.GPU_OVERHEATED, Kind.GPU_SLOWDOWN))
            made = event(seq, moment, kind=kind, component=chance.choice(parts), message="hot " * chance.randrange(300))
            of = chance.choice(begun) if begun else None
            match chance.choice(("begin", "begin", "again", "again", "end", "well", "xid")):
                case "again" if of is not None:
                    more = {"attributes": {"occurrence": of.id, "ongoing": True}, "component": of.component}
                    made = made.model_copy(update={**more, "kind": of.kind})
                case "end" if of is not None:
                    more = {"attributes": {"occurrence": of.id, "of": of.kind.value}, "component": of.component}
                    made = made.model_copy(update={**more, "kind": Kind.CONDITION_CLEARED})
                case "well":
                    made = made.model_copy(update={"attributes": {"of": kind.value}, "kind": Kind.CONDITION_CLEARED})
                case "xid":
                    made = event(seq, moment, xid=74, component=chance.choice(parts))
                case _:
                    begun.append(made)
            events.append(made)
        who = node().model_copy(update={"boot_id": boot})
        first = events[0].seq if events else seq + 1
        told.append(delivery(*events, arrived=second, sent=second, identity=who, first_seq=first))
    return told


@pytest.mark.parametrize("seed", range(18))
def test_what_lasts_goes_on_as_its_text_would(seed: int) -> None:
    chance = random.Random(seed)
    book = LASTING[seed % len(LASTING)]
    story = _lasting_story(chance)
    text, warm, found = "", WarmState(), 0
    for one in [*story, *chance.sample(story, 40)]:
        book = chance.choice(LASTING) if chance.random() < 0.01 else book
        now = one.arrived_at + timedelta(seconds=1)
        read = _judged_alike(one, text, warm, book, now)
        found += len(read.findings)
        text = read.state
        if chance.random() < 0.05:
            loaded = WarmState.load(text)
            assert loaded is not None
            warm = loaded
    assert found


def _judged_alike(one: Delivery, text: str, warm: WarmState, book: Rulebook, now: datetime) -> Evaluation:
    """Judge *one* by both states, which must tell and leave the same; return what came of the text."""
    read, gone_on = _judge(one, text, book, now), _judge(one, warm, book, now)
    assert _told(gone_on) == _told(read)
    assert warm.text == read.state or not read.state
    return read


def _judge(one: Delivery, state: str | WarmState, book: Rulebook, now: datetime) -> Evaluation:
    return evaluate([one], state=state, rulebook=book, now=now)


def _told(one: Evaluation) -> tuple[object, ...]:
    return one.changed, one.findings, one.contributions, one.gaps, one.events, one.dropped_counters
