"""A node's batch is judged the same in any order and however often it comes."""

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import Finding
from policies.contract.envelope import ParsedEnvelope, RejectedEvent
from policies.contract.events import Component, FaultEvent, JobRef
from policies.contract.vocabulary import ComponentType, Kind, PolicyMode
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.expressions.members import NodeFacts
from policies.rulebook import Rulebook
from policies.sequences import Gap
from tests.tools.envelopes import GPU, at, delivery, envelope, event, node, policy, rules, shipped

OTHER_GPU = Component(type=ComponentType.GPU, pci="0000:64:00")


def judge(
    *deliveries: Delivery,
    state: str = "",
    rulebook: Rulebook | None = None,
    now: float = 1,
    snapshot: dict[str, bool] | None = None,
) -> Evaluation:
    return evaluate(deliveries, state=state, rulebook=rulebook or rules(), now=at(now), snapshot=snapshot)


def ids(found: Evaluation) -> list[str]:
    return [finding.id for finding in found.findings]


def test_a_lost_gpu_is_one_finding_with_what_coordinate_needs() -> None:
    job = JobRef(id="train/llm", step=10_200)
    found = judge(delivery(event(0, 0, job=job, message="fallen off the bus"), arrived=0.02), rulebook=shipped())
    (finding,) = found.findings
    assert Finding.model_validate_json(finding.to_json()) == finding
    assert finding.policy.name == "xid-79-fell-off-the-bus"
    assert finding.generation == "i-1#0"
    assert (finding.component, finding.job, finding.count) == (GPU, job, 1)
    assert (finding.observed_at, finding.queued_at, finding.decided_at) == (at(0), at(0.02), at(1))
    assert finding.messages == ("fallen off the bus",)
    assert finding.event_ids == (event(0, 0).id,)
    assert not finding.late
    assert (found.events, found.matches, found.repeats, found.changed) == (1, 1, 0, True)


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


def test_a_burst_is_one_finding_and_one_message_each() -> None:
    burst = [event(seq, seq, message=f"line {seq % 3}") for seq in range(20)]
    (finding,) = judge(delivery(*burst, arrived=20)).findings
    assert finding.count == 20
    assert finding.messages == ("line 0", "line 1", "line 2")
    assert (finding.first_observed_at, finding.observed_at) == (at(0), at(19))


def test_each_component_is_counted_by_itself_and_a_node_as_a_whole_where_the_policy_says_so() -> None:
    two = delivery(event(0), event(1, component=OTHER_GPU))
    assert len(judge(two).findings) == 2
    by_node = rules(policy(count={"at_least": 2, "within": "1m", "per": "node"}))
    (finding,) = judge(two, rulebook=by_node).findings
    assert finding.count == 2


def test_a_gpu_is_one_part_whichever_link_shows_the_fault() -> None:
    links = [event(link, link, component=GPU.model_copy(update={"link": link})) for link in range(3)]
    assert len(judge(delivery(*links)).findings) == 1


def test_shadow_decides_and_says_so_and_off_does_not_decide() -> None:
    (finding,) = judge(delivery(event(0)), rulebook=rules(policy(mode="shadow"))).findings
    assert finding.policy.mode is PolicyMode.SHADOW
    assert judge(delivery(event(0)), rulebook=rules(policy(mode="off"))).findings == ()


def test_unless_exempts_and_what_is_unknown_exempts_nobody_but_is_told() -> None:
    book = rules(policy(unless="node.in_maintenance"))
    assert judge(delivery(event(0)), rulebook=book, snapshot={"in_maintenance": True}).findings == ()
    assert len(judge(delivery(event(0)), rulebook=book, snapshot={"in_maintenance": False}).findings) == 1
    unknown = judge(delivery(event(0), event(1)), rulebook=book)
    assert len(unknown.findings) == 1
    (refused,) = unknown.refused
    assert (refused.policy, refused.field, refused.times) == ("test-policy", "unless", 2)


def test_a_field_that_is_not_there_is_no_match_and_is_told() -> None:
    book = rules(policy(when='event.kind == "gpu.xid" && event.attributes.pid == 7'))
    found = judge(delivery(event(0)), rulebook=book)
    assert found.findings == ()
    assert [(one.path, one.reason) for one in found.refused] == [("event.attributes.pid", "is not there")]


def test_distinct_jobs_on_one_gpu_are_what_counts() -> None:
    book = rules(policy(count={"at_least": 2, "within": "1h", "distinct": "job.id"}))
    same = [event(seq, seq, job=JobRef(id="train/a")) for seq in range(3)]
    assert judge(delivery(*same), rulebook=book).findings == ()
    found = judge(delivery(*same, event(3, 3, job=JobRef(id="train/b"))), rulebook=book)
    assert found.findings
    assert judge(delivery(event(0)), rulebook=book).refused[0].field == "count.distinct"


def test_late_events_count_and_are_marked() -> None:
    old = delivery(event(0, 0), sent=0, arrived=0)
    (finding,) = judge(old, now=16 * 60).findings
    assert finding.late
    (fresh,) = judge(old, now=14 * 60).findings
    assert not fresh.late
    assert fresh.id == finding.id


def test_a_fresh_event_that_completes_an_old_window_is_not_late() -> None:
    book = rules(policy(count={"at_least": 2, "within": "1h", "occurrence": "30s"}))
    old = judge(delivery(event(0, 0)), rulebook=book)
    (finding,) = judge(delivery(event(1, 1800)), rulebook=book, state=old.state, now=1801).findings
    assert (finding.late, finding.window_start) == (False, at(0))


def test_a_clock_that_is_ahead_is_corrected() -> None:
    ahead = delivery(event(0, 3600), sent=3600, arrived=0)
    (finding,) = judge(ahead).findings
    assert finding.observed_at == at(0)


def test_a_clock_that_is_a_little_behind_is_corrected() -> None:
    behind = delivery(event(0, -120), sent=-120, arrived=0)
    assert judge(behind).findings[0].observed_at == at(0)


def test_an_envelope_that_was_kept_for_hours_and_sent_again_stays_old() -> None:
    kept = delivery(event(0, -7200), sent=-7200, arrived=0)
    (finding,) = judge(kept).findings
    assert (finding.observed_at, finding.late) == (at(-7200), True)


def test_absurd_times_are_brought_into_the_calendar() -> None:
    long_ago = event(0).model_copy(update={"observed_at": at(0).replace(year=1)})
    (finding,) = judge(delivery(long_ago, sent=0)).findings
    assert finding.late
    far_off = event(0).model_copy(update={"observed_at": at(0).replace(year=9999)})
    (finding,) = judge(delivery(far_off, sent=0)).findings
    assert finding.observed_at == at(0)


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


def test_an_unreadable_state_starts_afresh_and_says_so() -> None:
    for broken in ("{", '"x"', '{"v":99}', "[]"):
        found = judge(delivery(event(0)), state=broken)
        assert (found.was_unreadable, found.changed, len(found.findings)) == (True, True, 1)


def test_a_new_revision_is_another_finding() -> None:
    before = judge(delivery(event(0)), rulebook=rules(revision=1))
    after = judge(delivery(event(1, 5)), rulebook=rules(revision=2), state=before.state)
    assert len(after.findings) == 1
    assert ids(after) != ids(before)


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


def test_the_index_misses_no_rule() -> None:
    texts = [
        'event.kind == "gpu.xid"',
        "event.attributes.xid != 79",
        'event.kind == "gpu.xid" && event.attributes.xid in [79, 13]',
        'event.kind in ["gpu.lost", "gpu.xid"] && event.count == 1',
        'event.kind == "gpu.lost" || event.attributes.xid == 79',
        'event.kind != "gpu.xid"',
    ]
    book = rules(*(policy(name=f"rule-{place}", when=text) for place, text in enumerate(texts)))
    kinds = [(Kind.GPU_XID, xid) for xid in (79, 13, 45, None)] + [(Kind.GPU_LOST, None), (Kind.HOST_PANIC, None)]
    for seq, (kind, xid) in enumerate(kinds):
        one: FaultEvent = event(seq, kind=kind, xid=xid)
        asked = {rule.name for rule in book.rules if rule.when.ask(one, NodeFacts(node())) is True}
        assert {finding.policy.name for finding in judge(delivery(one), rulebook=book).findings} == asked


def test_an_xid_that_is_no_whole_number_is_still_asked_properly() -> None:
    as_float = event(0).model_copy(update={"attributes": {"xid": 79.0}})
    as_text = event(1).model_copy(update={"attributes": {"xid": "79"}})
    found = judge(delivery(as_float, as_text, arrived=0))
    assert found.matches == 1
    assert [finding.observed_at for finding in found.findings] == [at(0)]
