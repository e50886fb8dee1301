"""Events that take a policy's reason away: `cancel_when`, and healthy observations."""

from hypothesis import given
from hypothesis import strategies as st

from functions.triage.ending import MOST_CANCELLATIONS, pack_cancellations
from policies.contract.events import Component, FaultEvent
from policies.contract.restraints import Cancellation
from policies.contract.vocabulary import Kind
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.loader import load_document
from policies.model import Policy
from policies.rulebook import Rulebook
from tests.tools.envelopes import GPU, at, delivery, event, policy, rules
from tests.tools.judging import OTHER_GPU, judge

RESET = 'event.kind == "gpu.reset"'
BOOK = rules(policy(cancel_when=RESET))
PROBE = rules(policy(evidence="probe"))


def told(found: Evaluation) -> list[tuple[str, str]]:
    return [(one.component, one.text) for one in found.cancellations]


def reset(seq: int = 1, seconds: float = 5, component: Component = GPU) -> FaultEvent:
    return event(seq, seconds, kind=Kind.GPU_RESET, component=component)


def test_an_event_that_cancel_when_names_is_told_of_the_whole_node() -> None:
    found = judge(delivery(event()), delivery(reset(), arrived=5), rulebook=BOOK, now=6)
    (one,) = found.cancellations
    assert (one.generation, one.component, one.at, one.text) == ("i-1#0", "", at(5), "gpu.reset")
    assert one.policy == found.findings[0].policy.name


def test_where_nothing_was_counted_nobody_is_told() -> None:
    found = judge(delivery(reset(0)), rulebook=BOOK)
    assert found.cancellations == ()
    assert found.changed


def test_what_came_too_early_is_told_beside_the_finding_that_it_is_about() -> None:
    first = judge(delivery(reset(1, 5), arrived=5), rulebook=BOOK, now=5)
    late = judge(delivery(event(0, 0), arrived=6, sent=6), state=first.state, rulebook=BOOK, now=6)
    assert len(late.findings) == 1
    assert told(late) == [("", "gpu.reset")]


def test_a_healthy_observation_takes_the_reason_of_a_probe_from_the_same_part_only() -> None:
    found = judge(delivery(event()), delivery(reset()), delivery(reset(2, 6, OTHER_GPU)), rulebook=PROBE, now=7)
    assert sorted(told(found)) == sorted([(GPU.key, "gpu.reset"), (OTHER_GPU.key, "gpu.reset")])


NAMED = GPU.model_copy(update={"uuid": "GPU-1f0c"})
BY_UUID = GPU.model_copy(update={"uuid": "GPU-1f0c", "pci": None})


def test_a_reset_that_names_the_gpu_by_its_uuid_is_told_with_its_address_once_an_event_named_both() -> None:
    both = event(3, 1, xid=None, kind=Kind.GPU_ECC_CORRECTED, component=NAMED)
    found = judge(delivery(event()), delivery(both), delivery(reset(component=BY_UUID)), rulebook=PROBE, now=6)
    (one,) = found.cancellations
    assert (one.component, one.also) == (BY_UUID.key, (GPU.pci,))
    first = judge(delivery(both), rulebook=PROBE, now=2)
    later = judge(delivery(event()), delivery(reset(component=BY_UUID)), state=first.state, rulebook=PROBE, now=6)
    assert [one.also for one in later.cancellations] == [(GPU.pci,)]


def test_a_gpu_that_was_exchanged_goes_by_its_new_uuid() -> None:
    old = event(3, 1, xid=None, kind=Kind.GPU_ECC_CORRECTED, component=NAMED)
    new = event(4, 2, xid=None, kind=Kind.GPU_ECC_CORRECTED, component=NAMED.model_copy(update={"uuid": "GPU-2222"}))
    for order in ((old, new), (new, old)):
        state = judge(*map(delivery, order), rulebook=PROBE, now=3).state
        found = judge(delivery(event()), delivery(reset(component=BY_UUID)), state=state, rulebook=PROBE, now=6)
        assert [one.also for one in found.cancellations] == [()]


def test_a_reset_by_uuid_ends_how_long_a_fault_at_an_address_has_held() -> None:
    book = rules(policy(**{"for": "60s"}))
    both = event(3, 1, xid=None, kind=Kind.GPU_ECC_CORRECTED, component=NAMED)
    told = judge(delivery(event()), delivery(both), delivery(reset(1, 5, BY_UUID)), rulebook=book, now=6)
    assert judge(delivery(sent=90, arrived=90), state=told.state, rulebook=book, now=90).findings == ()
    unknown = judge(delivery(event()), delivery(reset(1, 5, BY_UUID)), rulebook=book, now=6)
    assert len(judge(delivery(sent=90, arrived=90), state=unknown.state, rulebook=book, now=90).findings) == 1


def test_the_names_of_gpus_have_a_bound() -> None:
    parts = [GPU.model_copy(update={"pci": f"0000:{n:02x}:00", "uuid": f"GPU-{n:032x}"}) for n in range(200)]
    many = [event(n, n, xid=None, kind=Kind.GPU_ECC_CORRECTED, component=part) for n, part in enumerate(parts)]
    state = judge(delivery(*many), rulebook=PROBE, now=201).state
    assert (f"GPU-{199:032x}" in state, f"GPU-{100:032x}" in state) == (True, False)
    assert len(state) < 2500


def test_a_latched_policy_asks_for_none() -> None:
    found = judge(delivery(event()), delivery(reset()), rulebook=rules(policy(evidence="latched")), now=7)
    assert found.cancellations == ()


def test_a_policy_with_for_hears_that_its_condition_ended() -> None:
    book = rules(policy(**{"for": "10s"}))
    held = judge(delivery(event()), delivery(sent=20, arrived=20), rulebook=book, now=20)
    assert len(held.findings) == 1
    ended = judge(delivery(reset(1, 25), arrived=25), state=held.state, rulebook=book, now=25)
    assert told(ended) == [(GPU.key, "gpu.reset")]


def test_a_field_that_is_not_there_cancels_nothing_and_is_counted() -> None:
    book = rules(policy(cancel_when='event.kind == "gpu.reset" && job.step > 3'))
    found = judge(delivery(event()), delivery(reset()), rulebook=book, now=7)
    assert found.cancellations == ()
    assert [(one.field, one.path) for one in found.refused] == [("cancel_when", "step")]


def test_a_mistake_in_cancel_when_is_refused_with_its_place() -> None:
    document = {"name": "a", "mode": "active", "why": "w", "when": RESET, "do": ["alert"], "cancel_when": "event.knd"}
    loaded = load_document(document)
    assert not isinstance(loaded, Policy)
    assert loaded[0].path == "cancel_when"


def test_what_is_remembered_has_a_bound() -> None:
    book = rules(*(policy(name=f"p{number}", cancel_when=RESET) for number in range(60)))
    state = judge(delivery(reset(0)), rulebook=book).state
    assert len(state) < 4000


STORY = [
    delivery(event(0, 0), arrived=60, sent=60),
    delivery(reset(1, 5), arrived=60, sent=60),
    delivery(event(2, 30), arrived=60, sent=60),
    delivery(reset(3, 35, OTHER_GPU), arrived=60, sent=60),
]


def one_by_one(story: list[Delivery], book: Rulebook) -> tuple[str, dict[tuple[str, str], Cancellation]]:
    """Return the state, and the newest of what was told of each policy and part, as coordinate keeps it."""
    state, newest = "", dict[tuple[str, str], Cancellation]()
    for each in story:
        judged = evaluate([each], state=state, rulebook=book, now=at(60))
        state = judged.state
        for one in judged.cancellations:
            known = newest.get((one.policy, one.component))
            newest[one.policy, one.component] = max((known, one), key=lambda it: it.at) if known else one
    return state, newest


@given(st.permutations([*STORY, *STORY]), st.sampled_from([BOOK, PROBE]))
def test_any_order_and_any_repeat_tell_the_same(story: list[Delivery], book: Rulebook) -> None:
    state, newest = one_by_one(STORY, book)
    mixed, told_mixed = one_by_one(story, book)
    assert mixed == state
    assert told_mixed == newest


def cancellation(number: int) -> tuple[str, Cancellation]:
    return "c", Cancellation(policy="p", generation=f"i-{number:04}#0", at=at(0), event_id=str(number))


@given(st.permutations(range(9)))
def test_messages_do_not_hang_on_the_order(order: list[int]) -> None:
    assert pack_cancellations(map(cancellation, order)) == pack_cancellations(map(cancellation, range(9)))


def test_very_many_are_cut_into_messages_that_queues_take() -> None:
    messages = pack_cancellations(map(cancellation, range(MOST_CANCELLATIONS + 1)))
    assert [len(one.cancellations) for one in messages] == [MOST_CANCELLATIONS, 1]
    assert len({one.deduplication_id for one in messages}) == 2
    assert all(len(one.to_json()) < 230 * 1024 for one in messages)
