"""Repeats, crashes and two lanes: each event counts once, and one that never came is reported."""

from policies.contract.envelope import ParsedEnvelope, RejectedEvent
from policies.evaluator import Delivery
from policies.sequences import Gap
from tests.tools.envelopes import at, delivery, envelope, event, shipped
from tests.tools.judging import OTHER_GPU, ids, judge


def test_the_same_envelope_again_changes_nothing() -> None:
    first = judge(delivery(event(0)))
    again = judge(delivery(event(0)), state=first.state)
    assert (again.findings, again.changed, again.state) == ((), False, first.state)
    assert (again.events, again.repeats) == (0, 1)


def test_a_crash_before_the_commit_gives_the_same_findings_in_whatever_batch() -> None:
    one, other = delivery(event(0)), delivery(event(1, 40, component=OTHER_GPU))
    assert set(ids(judge(one))) <= set(ids(judge(one, other)))
    assert ids(judge(one, other)) == ids(judge(one, other))


def test_an_envelope_sent_twice_because_its_answer_was_lost_counts_once() -> None:
    first = delivery(event(0), sent=0, arrived=0.1)
    again = delivery(event(0), sent=2, arrived=2.4)
    assert ids(judge(first, again)) == ids(judge(first)) == ids(judge(again, first))


def test_a_rejected_event_counts_as_received_and_is_handed_back_once() -> None:
    refused = RejectedEvent({"seq": 1, "kind": "nope"}, "kind: unknown", 1)
    made = Delivery(ParsedEnvelope(envelope(event(0), event(2)), (refused,)), at(0))
    first = judge(made)
    assert first.rejected == ((0, refused),)
    assert judge(made, state=first.state).rejected == ()
    assert judge(delivery(first_seq=3), state=first.state, now=9999).gaps == ()


def test_a_gap_is_reported_once_after_five_minutes() -> None:
    first = judge(delivery(event(0), event(3)), now=0)
    assert first.gaps == ()
    second = judge(delivery(first_seq=4, sent=301), state=first.state, now=301)
    assert second.gaps == (Gap("spool", 1, 2, int(at(0).timestamp())),)
    assert judge(delivery(first_seq=4, sent=900), state=second.state, now=900).gaps == ()


def test_overflow_that_overtakes_loses_nothing_and_counts_nothing_twice() -> None:
    fast = delivery(event(2, 2), in_order=False)
    slow = delivery(event(0, 0, xid=13), event(1, 1, xid=13), event(2, 2), arrived=60, sent=2)
    first = judge(fast, now=3, rulebook=shipped())
    second = judge(slow, state=first.state, now=60, rulebook=shipped())
    assert (len(first.findings), [one.policy.name for one in second.findings]) == (1, ["xid-13-graphics-exception"])
    assert (second.events, second.repeats) == (2, 1)
    assert judge(delivery(first_seq=3), state=second.state, now=9999).gaps == ()


def test_a_heartbeat_of_a_well_known_node_writes_nothing() -> None:
    first = judge(delivery(event(0)))
    assert not judge(delivery(first_seq=1), state=first.state).changed
