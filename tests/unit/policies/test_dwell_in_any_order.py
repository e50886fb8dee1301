"""How long a condition holds does not depend on the order of what is heard, and costs little to remember."""

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import to_json

from policies.contract.events import Component, FaultEvent, JobRef
from policies.contract.vocabulary import ComponentType, Kind
from policies.evaluator import Delivery, evaluate
from policies.node_state import MOST_DWELLS
from policies.rulebook import Rulebook
from policies.warm_state import WarmState
from tests.tools.envelopes import GPU, at, delivery, event, node, policy, rules
from tests.tools.judging import OTHER_GPU, ids, judge

KINDS = [Kind.GPU_OVERHEATED, Kind.GPU_SLOWDOWN]
WHEN = 'event.kind in ["gpu.overheated", "gpu.slowdown"]'
BOOKS = [rules(policy(**{"when": WHEN, "for": "2m", "count": {"per": per}})) for per in ("component", "node")]
END = 800


@st.composite
def stories(draw: st.DrawFn) -> list[Delivery]:
    """Conditions of two GPUs that begin, are told again, end by name or by kind, and a reboot now and then."""
    told: list[tuple[FaultEvent, str]] = []
    open_ones: list[FaultEvent] = []
    seconds, boot = 0, "boot"
    for seq in range(draw(st.integers(1, 14))):
        seconds += draw(st.integers(0, 90))
        choice = draw(st.sampled_from(["begin", "begin", "again", "end", "well", "boot"]))
        if choice == "boot":
            boot, open_ones = f"boot-{seq}", []
            seconds += 1
        part, kind = draw(st.sampled_from([GPU, OTHER_GPU])), draw(st.sampled_from(KINDS))
        of = draw(st.sampled_from(open_ones)) if open_ones else None
        made = event(seq, seconds, kind=kind, component=part)
        if choice in {"again", "end"} and of is not None:
            named = {"occurrence": of.id, **({"ongoing": True} if choice == "again" else {"of": of.kind.value})}
            chosen = of.kind if choice == "again" else Kind.CONDITION_CLEARED
            made = event(seq, seconds, kind=chosen, component=of.component, attributes=named)
            made = made.model_copy(update={"first_observed_at": of.first_observed_at})
        elif choice == "well":
            made = event(seq, seconds, kind=Kind.CONDITION_CLEARED, component=part, attributes={"of": kind.value})
        else:
            open_ones.append(made)
        told.append((made, boot))
    return [
        delivery(one, sent=END, arrived=END, identity=node().model_copy(update={"boot_id": boot})) for one, boot in told
    ]


def one_by_one(deliveries: list[Delivery], book: Rulebook) -> tuple[str, list[str]]:
    """Return the state in the end, and what the last heartbeat tells or told before."""
    state, found = "", list[str]()
    last = delivery(sent=END, identity=deliveries[-1].parsed.envelope.node)
    for one in [*deliveries, last]:
        judged = evaluate([one], state=state, rulebook=book, now=at(END))
        state, found = judged.state, found + ids(judged)
    return state, found


@settings(max_examples=200)
@given(stories(), st.randoms(use_true_random=False), st.sampled_from(range(2)))
def test_any_order_and_any_repeats_end_in_the_same_state(
    story: list[Delivery], chance: random.Random, which: int
) -> None:
    book, last = BOOKS[which], story[-1]
    shuffled = [*story, *story]
    chance.shuffle(shuffled)
    straight, told = one_by_one(story, book)
    mixed, _ = one_by_one([*shuffled, last], book)
    assert mixed == straight
    heartbeat = delivery(sent=END, identity=last.parsed.envelope.node)
    at_once = evaluate([*shuffled, heartbeat], state="", rulebook=book, now=at(END))
    assert at_once.state == straight
    assert set(ids(at_once)) <= set(told)


def test_a_storm_of_conditions_is_kept_small() -> None:
    state, dropped = "", 0
    for batch in range(20):
        parts = [Component(type=ComponentType.PROCESS, serial=f"{batch}-{number}" * 9) for number in range(30)]
        events = [
            event(
                batch * 30 + place,
                batch * 10,
                kind=Kind.GPU_SLOWDOWN,
                component=part,
                job=JobRef(id="j" * 512, checkpoint="s" * 2048, rank=10**3000, step=10**4000),
                attributes={f"name-{number}" * 20: "x" * 3000 for number in range(50)},
                message="m" * 2000,
            )
            for place, part in enumerate(parts)
        ]
        found = judge(delivery(*events), state=state, rulebook=BOOKS[0], now=batch * 10)
        state, dropped = found.state, dropped + found.dropped_counters
    assert dropped > 0
    assert len(json.loads(state)["d"]) <= MOST_DWELLS
    assert len(state) < 150_000


@given(
    st.text(alphabet='a\x01"ß𝄞', min_size=1, max_size=512),
    st.text(alphabet='a\x01"ß𝄞', max_size=2048),
    st.integers(1, 20),
    st.integers(0, 10**4000),
)
def test_what_lasts_takes_no_more_room_than_is_reckoned_with(name: str, text: str, times: int, number: int) -> None:
    state = WarmState()
    for seq in range(times):
        made = event(
            seq,
            seq,
            kind=Kind.GPU_SLOWDOWN,
            component=Component(type=ComponentType.GPU, serial=name, index=number),
            job=JobRef(id=name, checkpoint=text, step=number),
            attributes={name: text, "n": number, "occurrence": f"{name[:60]}{seq}", "ongoing": True},
            message=text,
        )
        who = node().model_copy(update={"boot_id": text})
        evaluate([delivery(made, identity=who)], state=state, rulebook=BOOKS[0], now=at(seq))
    (dwell,) = [state.dwell(key) for key in state.dwells]
    reckoned = dwell.room
    assert len(to_json(dwell.dump())) <= reckoned
    assert len(to_json(dwell.dump())) <= dwell.room, "what was asked for takes what it takes"


def test_one_part_that_flaps_for_a_day_is_kept_small_and_held_to_account_for_what_holds() -> None:
    state = ""
    for number in range(300):
        begun = event(2 * number, number * 60, kind=Kind.GPU_SLOWDOWN)
        over = event(
            2 * number + 1,
            number * 60 + 30,
            kind=Kind.CONDITION_CLEARED,
            attributes={"of": "gpu.slowdown", **({"occurrence": begun.id} if number % 2 else {})},
        )
        found = judge(delivery(begun), delivery(over), state=state, rulebook=BOOKS[0], now=number * 60 + 30)
        assert found.findings == ()
        state = found.state
    assert len(state) < 4000


def test_a_clock_that_was_set_back_before_it_was_sent_moves_no_beginning() -> None:
    begun = event(0, 441, kind=Kind.GPU_OVERHEATED)
    again = event(1, 801, kind=Kind.GPU_OVERHEATED, attributes={"occurrence": begun.id, "ongoing": True})
    again = again.model_copy(update={"first_observed_at": begun.observed_at})
    story = [delivery(each, sent=END, arrived=END) for each in (begun, again)]
    _state, told = one_by_one(story, BOOKS[0])
    at_once = evaluate(story[::-1], state="", rulebook=BOOKS[0], now=at(END))
    assert len(told) == 1
    assert ids(at_once) == told
