"""A batch goes its way: effects first, commit last, each event counted once."""

from collections.abc import Collection, Mapping
from datetime import datetime

from functions.ports.triage import NodeKey, StoredState
from functions.twins.triage import MemoryNodeStates
from policies.contract.envelope import CANARY_NODE
from policies.contract.vocabulary import Kind, Source
from policies.node_state import NodeState
from tests.tools.envelopes import NOW, at, envelope, event, node
from tests.tools.triage_bench import Bench


def test_a_fault_becomes_one_decision_and_one_committed_state() -> None:
    bench = Bench()
    assert bench.take(envelope(event(0))) == []
    (message,) = bench.decisions.sent
    (finding,) = message.findings
    assert (message.cluster, finding.policy.name) == ("c", "xid-79-fell-off-the-bus")
    text, version, _ = bench.states.stored[NodeKey("c", "i-1")]
    assert version == 1
    state = NodeState.load(text)
    assert state is not None
    assert state.spool("spool").has(0)
    assert bench.telemetry.counts == {"EventsReceived": 1, "EventsMatched": 1, "FindingsSent": 1}


def test_the_same_records_again_send_nothing_and_write_nothing() -> None:
    bench = Bench()
    bench.take(envelope(event(0)))
    stored = dict(bench.states.stored)
    bench.take(envelope(event(0)))
    assert len(bench.decisions.sent) == 1
    assert bench.states.stored == stored
    assert bench.telemetry.counts["EventsRepeated"] == 1


def test_findings_of_a_batch_go_in_one_message_a_cluster() -> None:
    bench = Bench()
    nodes = [node("i-1"), node("i-2"), node("i-3", cluster="d")]
    bench.take(*(envelope(event(0), identity=one) for one in nodes))
    assert [(one.cluster, len(one.findings)) for one in bench.decisions.sent] == [("c", 2), ("d", 1)]


def test_overflow_and_stream_together_count_once() -> None:
    bench = Bench()
    bench.overflow(envelope(event(5)))
    bench.take(envelope(*(event(seq, xid=13) for seq in range(5)), event(5)))
    assert len(set(bench.finding_ids)) == 2
    assert bench.telemetry.counts["EventsReceived"] == 6
    assert bench.telemetry.counts["EventsRepeated"] == 1


def test_a_canary_is_measured_and_noted_and_leaves_no_state() -> None:
    bench = Bench()
    canary = envelope(event(0, kind=Kind.PIPELINE_CANARY), identity=node().model_copy(update={"name": CANARY_NODE}))
    bench.take(canary)
    assert bench.telemetry.counts == {"CanariesSeen": 1}
    assert bench.telemetry.seconds == [("CanaryAge", 1.0)]
    assert bench.states.stored == {}
    assert bench.seen.last_seen("c", f"{CANARY_NODE}/i-1") == NOW


def test_what_others_say_of_a_node_is_no_sign_of_its_life() -> None:
    bench = Bench()
    said = event(0, kind=Kind.NODE_SILENT).model_copy(update={"source": Source.SWEEP})
    bench.take(envelope(said))
    assert bench.seen.writes == 0
    bench.take(envelope(said, event(1)))
    assert bench.seen.last_seen("c", "i-1") == NOW


def test_what_was_sent_again_by_a_person_is_no_sign_of_life() -> None:
    bench = Bench()
    bench.take(envelope(event(0)).model_copy(update={"spool_id": "redrive-1"}))
    assert bench.seen.writes == 0


def test_heartbeats_are_seen_and_change_no_state() -> None:
    bench = Bench()
    bench.take(envelope(first_seq=0))
    assert bench.states.stored == {}
    assert bench.seen.last_seen("c", "i-1") == NOW


def test_a_node_that_only_sends_heartbeats_is_not_forgotten() -> None:
    bench = Bench()
    bench.take(envelope(event(0)))
    key = NodeKey("c", "i-1")
    bench.now = at(8 * 86_400)
    bench.take(envelope(first_seq=1, sent=8 * 86_400), arrived=8 * 86_400)
    assert bench.states.stored[key][1:] == (2, bench.now)


def test_a_gap_is_told_as_loss() -> None:
    bench = Bench()
    bench.take(envelope(event(0), event(4)))
    bench.now = at(400)
    bench.take(envelope(first_seq=5, sent=399), arrived=399)
    assert bench.telemetry.counts["EventsLost"] == 3
    assert any(message.startswith("pipeline.gap") for message, _ in bench.telemetry.remarks)


def test_states_are_read_once_a_batch() -> None:
    reads: list[Collection[NodeKey]] = []

    class Counting(MemoryNodeStates):
        def load(self, keys: Collection[NodeKey], now: datetime) -> Mapping[NodeKey, StoredState]:
            reads.append(list(keys))
            return super().load(keys, now)

    bench = Bench(states=Counting())
    bench.take(*(envelope(event(seq, seq), identity=node(f"i-{seq % 2}")) for seq in range(6)))
    assert [sorted(key.instance_id for key in keys) for keys in reads] == [["i-0", "i-1"]]


def test_an_empty_batch_is_nothing() -> None:
    bench = Bench()
    assert bench.triage.handle([]) == []
    assert bench.telemetry.counts == {}
