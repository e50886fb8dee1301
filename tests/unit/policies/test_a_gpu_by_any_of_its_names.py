"""A GPU whose fault is told by its address and whose reset by its UUID: whichever is heard first, the same follows."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import generation_of
from policies.contract.events import Component
from policies.contract.parts import is_same_part
from policies.contract.restraints import Cancellation
from policies.contract.vocabulary import ComponentType, Kind
from policies.coordination import leases
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.node_state import LARGEST_TEXT
from policies.rulebook import Rulebook
from tests.tools.envelopes import at, delivery, event, policy, rules
from tests.tools.judging import ids, judge

END = 600
ADDRESS = Component(type=ComponentType.GPU, pci="0000:53:00")
UUID = Component(type=ComponentType.GPU, uuid="GPU-0b1f5c1e-1111-2222-3333-444455556666")
BOTH = Component(type=ComponentType.GPU, pci=ADDRESS.pci, uuid=UUID.uuid)
LASTING = rules(policy(**{"when": 'event.kind == "gpu.ecc_uncorrected"', "for": "2m"}))
AT_ONCE = rules(policy(when='event.kind == "gpu.ecc_uncorrected"', evidence="probe"))
FAULT = event(0, 10, kind=Kind.GPU_ECC_UNCORRECTED, component=ADDRESS)
NAMED = event(1, 5, kind=Kind.GPU_OVERHEATED, component=BOTH)


def told(*extra: int) -> list[Delivery]:
    resets = [event(2 + at, moment, kind=Kind.GPU_RESET, component=UUID) for at, moment in enumerate(extra)]
    return [delivery(one, sent=END, arrived=END) for one in (FAULT, NAMED, *resets)]


def one_by_one(deliveries: list[Delivery], book: Rulebook) -> tuple[str, list[Evaluation]]:
    """Return the state in the end, a heartbeat among what is heard last, and each answer."""
    state, answers = "", list[Evaluation]()
    for one in [*deliveries, delivery(sent=END, arrived=END, first_seq=9)]:
        answers.append(evaluate([one], state=state, rulebook=book, now=at(END)))
        state = answers[-1].state
    return state, answers


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 300), min_size=1, max_size=3, unique=True), st.randoms(use_true_random=False))
def test_what_lasts_ends_with_a_reset_by_the_other_name_in_any_order(moments: list[int], dice: random.Random) -> None:
    story = told(*moments)
    shuffled = [*story, *story]
    dice.shuffle(shuffled)
    straight, _ = one_by_one(story, LASTING)
    mixed, _ = one_by_one(shuffled, LASTING)
    assert mixed == straight
    holds = max(moments) < 10
    at_once = evaluate([*shuffled, delivery(sent=END, arrived=END)], state="", rulebook=LASTING, now=at(END))
    assert bool(ids(at_once)) == holds


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_coordinate_hears_in_any_order_that_the_reset_ended_it(dice: random.Random) -> None:
    story = [*told(20), *told(20)]
    dice.shuffle(story)
    _, answers = one_by_one(story, AT_ONCE)
    lease = leases.nobodys("c", generation_of("i-1"), at(0))
    for one in (each for answer in answers for each in answer.cancellations):
        lease = leases.cancel(lease, one)
    assert any(is_same_part(one.component, ADDRESS.key, one.also) for one in lease.cancelled)


def test_a_lease_learns_the_other_names_of_what_it_knows_and_forgets_none() -> None:
    first = Cancellation(policy="p", generation="i-1#0", at=at(1), event_id="a", component=UUID.key, text="gpu.reset")
    named = first.model_copy(update={"also": ("0000:53:00",)})
    lease = leases.nobodys("c", "i-1#0", at(0))
    for order in ((first, named), (named, first), (named, named)):
        known = lease
        for one in order:
            known = leases.cancel(known, one)
        assert known.cancelled == (named,)


@pytest.mark.parametrize("rule", [LASTING, AT_ONCE])
def test_names_without_end_do_not_fill_the_state(rule: Rulebook) -> None:
    state = ""
    for seq in range(20):
        part = Component(type=ComponentType.GPU, pci=f"0000:{seq:02x}:00", uuid=f"GPU-{seq}-" + "x" * 40_000)
        reset = part.model_copy(update={"pci": None})
        for place, one in enumerate(
            (
                event(3 * seq, seq, kind=Kind.GPU_ECC_UNCORRECTED, component=part),
                event(3 * seq + 1, seq, kind=Kind.GPU_RESET, component=reset),
                event(3 * seq + 2, seq, kind=Kind.GPU_RESET, component=part),
            )
        ):
            found = judge(delivery(one, sent=30, arrived=30), state=state, rulebook=rule, now=30)
            state = found.state
            assert len(state) < LARGEST_TEXT, (seq, place)
