"""Whatever a node sends, its state stays small, and the agent's own spool outlives the rest."""

from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType
from tests.tools.envelopes import delivery, event
from tests.tools.judging import judge


def test_an_unreadable_state_starts_afresh_and_says_so() -> None:
    for broken in ("{", '"x"', '{"v":99}', "[]"):
        found = judge(delivery(event(0)), state=broken)
        assert (found.was_unreadable, found.changed, len(found.findings)) == (True, True, 1)


def test_state_stays_bounded_whatever_a_node_sends() -> None:
    state, dropped = "", 0
    for batch in range(4):
        parts = [Component(type=ComponentType.PROCESS, index=batch * 200 + number) for number in range(200)]
        events = [event(batch * 200 + place, batch, component=part) for place, part in enumerate(parts)]
        found = judge(delivery(*events, spool=f"spool-{batch}"), state=state)
        state, dropped = found.state, found.dropped_counters
    assert dropped > 0
    assert len(state) < 64 * 1024
    spools = [judge(delivery(event(0), spool=f"s{number}"), state=state).state for number in range(12)]
    assert max(map(len, spools)) < 64 * 1024


def test_the_agents_spool_outlives_many_senders_of_one_event_each() -> None:
    state = judge(delivery(event(0), event(1))).state
    for number in range(40):
        state = judge(delivery(event(0, number), spool=f"intake:{number}", sent=number), state=state, now=number).state
    later = judge(delivery(event(1, 1), event(2, 60)), state=state, now=60)
    assert (later.repeats, later.events) == (1, 1)
    assert judge(delivery(first_seq=3), state=later.state, now=9999).gaps == ()


def test_a_name_without_end_does_not_fill_the_state() -> None:
    junk = Component(type=ComponentType.DISK, serial="x" * 100_000)
    found = judge(delivery(event(0, component=junk)))
    assert len(found.state) < 1000
    assert judge(delivery(event(1, 1, component=junk)), state=found.state).findings == ()
