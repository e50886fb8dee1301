"""`for`: a condition counts once it has held for so long, and only a healthy observation begins it anew."""

import json

from policies.contract.events import Component, FaultEvent, Scalar
from policies.contract.vocabulary import ComponentType, Kind
from policies.evaluator import Delivery, Evaluation
from policies.rulebook import Rulebook
from tests.tools.envelopes import GPU, at, delivery, event, node, policy, rules
from tests.tools.judging import OTHER_GPU, judge

MINUTE, HOUR = 60, 3600
HOT = 'event.kind in ["gpu.overheated", "gpu.slowdown"]'


def book(revision: int = 1, **changes: object) -> Rulebook:
    return rules(policy(**{"when": HOT, "for": "5m", **changes}), revision=revision)


def hot(seq: int, seconds: float, *, kind: Kind = Kind.GPU_OVERHEATED, of: FaultEvent | None = None) -> FaultEvent:
    """Return an onset, or *of* told again."""
    again: dict[str, Scalar] = {} if of is None else {"ongoing": True, "occurrence": of.id}
    made = event(seq, seconds, kind=kind, attributes={"reason": "memory", **again}, message="hot")
    return made if of is None else made.model_copy(update={"first_observed_at": of.first_observed_at})


def well(seq: int, seconds: float, of: FaultEvent | None = None, component: Component = GPU) -> FaultEvent:
    named = {} if of is None else {"occurrence": of.id}
    return event(
        seq,
        seconds,
        kind=Kind.CONDITION_CLEARED,
        component=component,
        attributes={"of": (of.kind if of else Kind.GPU_OVERHEATED).value, **named},
    )


def beat(seconds: float, boot: str = "boot-1") -> Delivery:
    return delivery(sent=seconds, identity=node().model_copy(update={"boot_id": boot}))


def tell(*story: FaultEvent | Delivery, rulebook: Rulebook | None = None, state: str = "") -> list[Evaluation]:
    """Judge each in a batch of its own, as time goes on."""
    judged: list[Evaluation] = []
    for one in story:
        made = one if isinstance(one, Delivery) else delivery(one)
        now = (made.arrived_at - at(0)).total_seconds()
        judged.append(judge(made, state=state, rulebook=rulebook or book(), now=now))
        state = judged[-1].state
    return judged


def counts(judged: list[Evaluation]) -> list[int]:
    return [len(one.findings) for one in judged]


def test_a_heartbeat_alone_fulfils_it_once() -> None:
    judged = tell(hot(0, 0), beat(30), beat(299), beat(300), beat(330))
    assert counts(judged) == [0, 0, 0, 1, 0]
    assert [one.changed for one in judged] == [True, False, False, True, False]
    (finding,) = judged[3].findings
    assert (finding.kind, finding.component, finding.messages) == (Kind.GPU_OVERHEATED, GPU, ("hot",))
    assert finding.attributes["reason"] == "memory"
    assert (finding.window_start, finding.observed_at, finding.late) == (at(0), at(300), False)
    assert (finding.node, finding.queued_at, finding.count) == (node(), at(300), 1)


def test_a_repeat_is_the_same_condition_and_its_attributes_are_the_newest() -> None:
    first = hot(0, 0)
    judged = tell(first, beat(30), hot(1, 600, of=first), beat(1200))
    assert counts(judged) == [0, 0, 1, 0]
    assert judged[2].findings[0].window_start == at(0)
    assert judged[2].findings[0].attributes["ongoing"] is True


def test_what_the_agent_says_of_its_beginning_counts() -> None:
    lost = hot(0, 0)
    assert counts(tell(hot(1, 600, of=lost), beat(630))) == [1, 0]


def test_a_healthy_observation_begins_it_anew() -> None:
    first, second = hot(0, 0), hot(2, 250)
    assert counts(tell(first, well(1, 200, first), beat(310), second, beat(549), beat(550))) == [0, 0, 0, 0, 0, 1]
    told = tell(first, beat(300), well(1, 310, first), hot(2, 400), beat(699), beat(700))
    assert counts(told) == [0, 1, 0, 0, 0, 1]


def test_a_healthy_observation_that_comes_late_counts_as_well() -> None:
    first = hot(0, 0)
    second = hot(2, 250)
    cleared = delivery(well(1, 200, first), sent=260, arrived=260)
    assert counts(tell(first, second, cleared, beat(310), beat(550))) == [0, 0, 0, 0, 1]


def test_a_change_of_reason_resets_nothing() -> None:
    first = hot(0, 0)
    other = hot(1, 120, kind=Kind.GPU_SLOWDOWN)
    judged = tell(first, other, well(2, 150, first), beat(299), beat(300))
    assert counts(judged) == [0, 0, 0, 0, 1]
    assert judged[-1].findings[0].window_start == at(0)


def test_silence_resets_nothing_and_fulfils_nothing() -> None:
    assert counts(tell(hot(0, 0), beat(2 * HOUR))) == [0, 1]
    assert counts(tell(hot(0, 0))) == [0]


def test_another_part_is_another_condition_unless_it_counts_for_the_node() -> None:
    first = hot(0, 0)
    elsewhere = well(1, 200, component=OTHER_GPU)
    assert counts(tell(first, elsewhere, beat(300))) == [0, 0, 1]
    two = (first, hot(1, 100).model_copy(update={"component": OTHER_GPU}), well(2, 200, first), beat(300), beat(400))
    assert counts(tell(*two)) == [0, 0, 0, 0, 1]
    assert counts(tell(*two, rulebook=book(count={"per": "node"}))) == [0, 0, 0, 1, 0]


def test_a_gpu_that_was_reset_is_known_by_its_uuid() -> None:
    part = GPU.model_copy(update={"uuid": "GPU-1"})
    pending = event(0, 0, kind=Kind.GPU_ROW_REMAP_PENDING, component=part)
    reset = event(1, 60, kind=Kind.GPU_RESET, component=Component(type=ComponentType.GPU, uuid="GPU-1"))
    other = event(1, 60, kind=Kind.GPU_RESET, component=Component(type=ComponentType.GPU, uuid="GPU-2"))
    lasting = book(when='event.kind == "gpu.row_remap_pending"')
    assert counts(tell(pending, reset, beat(300), rulebook=lasting)) == [0, 0, 0]
    assert counts(tell(pending, other, beat(300), rulebook=lasting)) == [0, 0, 1]


def test_a_link_that_comes_back_ends_the_link_that_was_down() -> None:
    down, up = event(0, 0, kind=Kind.NETWORK_LINK_DOWN), event(1, 200, kind=Kind.NETWORK_LINK_UP)
    lasting = book(when='event.kind == "network.link_down"')
    assert counts(tell(down, beat(300), rulebook=lasting)) == [0, 1]
    assert counts(tell(down, up, beat(300), rulebook=lasting)) == [0, 0, 0]


def test_a_new_boot_does_not_hold_up_what_was_seen_before_it() -> None:
    first = hot(0, 0)
    assert counts(tell(first, beat(300, boot="boot-2"), beat(900, boot="boot-2"))) == [0, 0, 0]
    again = delivery(hot(0, 400), identity=node().model_copy(update={"boot_id": "boot-2"}), spool="other")
    assert counts(tell(first, again, beat(600, boot="boot-2"), beat(700, boot="boot-2"))) == [0, 0, 0, 1]


def test_what_is_over_when_it_is_heard_of_is_not_told() -> None:
    first = hot(0, 0)
    assert judge(delivery(first, well(1, 400, first)), beat(430), rulebook=book(), now=431).findings == ()


def test_what_is_heard_of_only_after_an_outage_is_late() -> None:
    first = hot(0, 0)
    (finding,) = judge(delivery(first), beat(300), rulebook=book(), now=3 * HOUR).findings
    assert finding.late


def test_an_edited_policy_waits_for_something_that_its_new_words_fit() -> None:
    first = hot(0, 0)
    state = tell(first, beat(30))[-1].state
    assert counts(tell(beat(300), beat(330), state=state, rulebook=book(2))) == [0, 0]
    told = tell(first, beat(300))[-1].state
    assert counts(tell(beat(400), hot(1, 600, of=first), beat(630), state=told, rulebook=book(2))) == [0, 1, 0]


def test_a_policy_that_is_gone_leaves_nothing_behind() -> None:
    state = tell(hot(0, 0))[-1].state
    later = judge(delivery(event(1, HOUR)), state=state, rulebook=rules(policy(name="other")), now=HOUR + 1)
    assert json.loads(later.state).get("d", {}) == {}


def test_a_node_without_such_a_condition_keeps_nothing_of_it() -> None:
    assert "d" not in json.loads(tell(event(0), beat(300))[-1].state)


def test_an_old_sign_that_arrives_late_is_told_as_old_however_alive_the_node_is() -> None:
    last_week = hot(0, -7 * 24 * HOUR)
    judged = tell(delivery(last_week, sent=0), beat(30))
    (finding,) = [finding for one in judged for finding in one.findings]
    assert finding.late
    assert finding.observed_at == at(-7 * 24 * HOUR)


def test_what_holds_without_being_told_again_is_vouched_for_by_heartbeats_for_a_while() -> None:
    judged = tell(hot(0, 0), beat(5 * MINUTE + 30 * MINUTE))
    (finding,) = judged[1].findings
    assert not finding.late
    judged = tell(hot(0, 0), beat(5 * MINUTE + 30 * MINUTE + 1))
    assert [(one.observed_at, one.late) for one in judged[1].findings] == [(at(0), True)]
