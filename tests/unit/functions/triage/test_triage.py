"""A batch goes its way: effects first, commit last, the bad put aside, the broken given back."""

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest

from functions.ports.triage import Commit, NodeKey, StoredState
from functions.triage.records import read_records
from functions.triage.rulebooks import Rulebooks
from functions.triage.seen import SeenBook
from functions.triage.triage import MOST_ROUNDS, Triage
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryDecisions, MemoryNodeStates, MemoryRejects, MemorySeen, MemoryTelemetry
from policies.contract.envelope import CANARY_NODE, Envelope, parse_envelope
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import Kind
from policies.node_state import NodeState
from tests.tools.envelopes import NOW, at, envelope, event, kinesis_event, node, sqs_event
from tests.tools.policy_table import in_force


class Bench:
    """Triage over twins; parts can be exchanged for worse ones."""

    def __init__(self, **worse: Any) -> None:  # noqa: ANN401 - any port
        self.policies: MemoryPolicies = worse.pop("policies", None) or in_force()
        self.states = MemoryNodeStates()
        self.rejects = MemoryRejects()
        self.decisions = MemoryDecisions()
        self.seen = MemorySeen()
        self.telemetry = MemoryTelemetry()
        self.now = at(1)
        self.ports: dict[str, Any] = {
            "states": self.states,
            "rejects": self.rejects,
            "decisions": self.decisions,
            **worse,
        }
        self.triage = self.worker()

    def worker(self) -> Triage:
        """Return a fresh worker over the same tables."""
        return Triage(
            rulebooks=Rulebooks(self.policies, self.telemetry),
            seen=SeenBook(self.seen),
            telemetry=self.telemetry,
            clock=lambda: self.now,
            **self.ports,
        )

    def take(self, *envelopes: Envelope | bytes, arrived: float = 0) -> list[str]:
        bodies = [one if isinstance(one, bytes) else one.to_json().encode() for one in envelopes]
        return list(self.triage.handle(read_records(kinesis_event(*bodies, arrived=arrived))))

    def overflow(self, *envelopes: Envelope) -> list[str]:
        return list(self.triage.handle(read_records(sqs_event(*(one.to_json() for one in envelopes)))))

    @property
    def finding_ids(self) -> list[str]:
        return [finding.id for message in self.decisions.sent for finding in message.findings]


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


def test_bad_records_are_put_aside_with_their_reason_and_the_rest_goes_through() -> None:
    bench = Bench()
    unknown_version = json.dumps({**json.loads(envelope(event(0)).to_json()), "schema_version": 2}).encode()
    good = envelope(event(0))
    assert bench.take(b"\x00" * (1 << 20), b"{", b"[]", unknown_version, good) == []
    assert len(bench.finding_ids) == 1
    reasons = " | ".join(one.reason for one in bench.rejects.kept.values())
    for reason in ("1048576 bytes", "not UTF-8 JSON", "JSON list", "schema_version 2 is unknown"):
        assert reason in reasons
    assert all(one.hint for one in bench.rejects.kept.values())
    assert bench.telemetry.counts["RecordsRejected"] == 4


def test_an_unknown_kind_is_put_aside_alone_and_can_be_sent_again_as_it_lies_there() -> None:
    bench = Bench()
    document = json.loads(envelope(event(0), event(1, xid=63)).to_json())
    document["events"][1]["kind"] = "gpu.not_invented_yet"
    bench.take(json.dumps(document).encode())
    assert len(bench.finding_ids) == 1
    (reject,) = bench.rejects.kept.values()
    assert (reject.cluster, reject.instance_id) == ("c", "i-1")
    assert "kind" in reject.reason
    assert parse_envelope(reject.payload).rejected  # this version does not understand it today either
    bench.take(reject.payload.replace(b"gpu.not_invented_yet", b"gpu.xid"))
    assert len(bench.finding_ids) == 2
    assert bench.telemetry.counts["EventsReceived"] == 2


def test_the_same_bad_record_again_is_the_same_reject() -> None:
    bench = Bench()
    bench.take(b"{")
    bench.take(b"{")
    assert len(bench.rejects.kept) == 1


def test_overflow_and_stream_together_count_once() -> None:
    bench = Bench()
    bench.overflow(envelope(event(5)))
    bench.take(envelope(*(event(seq, xid=13) for seq in range(5)), event(5)))
    assert len(set(bench.finding_ids)) == 2
    assert bench.telemetry.counts["EventsReceived"] == 6
    assert bench.telemetry.counts["EventsRepeated"] == 1


def test_a_canary_is_measured_and_leaves_no_trace() -> None:
    bench = Bench()
    canary = envelope(event(0, kind=Kind.PIPELINE_CANARY), identity=node().model_copy(update={"name": CANARY_NODE}))
    bench.take(canary)
    assert bench.telemetry.counts == {"CanariesSeen": 1}
    assert bench.telemetry.seconds == [("CanaryAge", 1.0)]
    assert bench.states.stored == {}
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


class Broken:
    """A port that fails at each call of *method* as long as ``down``."""

    def __init__(self, inner: object, method: str) -> None:
        self._inner = inner
        self._method = method
        self.down = True

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for any port
        if name == self._method and self.down:
            raise DependencyError(f"{name} is down.")
        return getattr(self._inner, name)


@pytest.mark.parametrize(
    ("port", "inner", "method"),
    [
        ("states", MemoryNodeStates(), "load"),
        ("states", MemoryNodeStates(), "commit"),
        ("decisions", MemoryDecisions(), "send"),
    ],
)
def test_what_is_broken_raises_and_rejects_nothing(port: str, inner: object, method: str) -> None:
    broken = Broken(inner, method)
    bench = Bench(**{port: broken})
    for _attempt in range(3):
        with pytest.raises(DependencyError, match="is down"):
            bench.take(envelope(event(0)))
    assert bench.rejects.kept == {}
    broken.down = False
    assert bench.take(envelope(event(0))) == []
    sent = bench.ports["decisions"].sent
    assert len({finding.id for message in sent for finding in message.findings}) == 1


def test_policies_that_cannot_be_read_raise_and_reject_nothing() -> None:
    table: Any = Broken(in_force(), "headings")
    bench = Bench(policies=table)
    with pytest.raises(DependencyError):
        bench.take(envelope(event(0)))
    assert (bench.rejects.kept, bench.states.stored) == ({}, {})
    table.down = False
    bench.take(envelope(event(0)))
    assert len(bench.finding_ids) == 1


def test_a_rejects_store_that_is_down_blocks_rather_than_loses() -> None:
    bench = Bench(rejects=Broken(MemoryRejects(), "put"))
    with pytest.raises(DependencyError):
        bench.take(b"{", envelope(event(0)))
    assert bench.decisions.sent == []


class DiesBeforeCommit(MemoryNodeStates):
    """The worker dies after its effects, before its commit, so many times."""

    def __init__(self, deaths: int) -> None:
        super().__init__()
        self._deaths = deaths

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        if self._deaths:
            self._deaths -= 1
            raise DependencyError("the worker was killed.")
        return super().commit(states, now)


def test_a_worker_killed_between_effect_and_commit_decides_the_same_again_and_counts_once() -> None:
    states = DiesBeforeCommit(deaths=2)
    bench = Bench(states=states)
    for _death in range(2):
        with pytest.raises(DependencyError):
            bench.take(envelope(event(0), event(1, 5)))
        bench.triage = bench.worker()
    # The batch comes again with more behind it.
    bench.take(envelope(event(0), event(1, 5)), envelope(event(2, 6)))
    assert len(bench.finding_ids) == 3
    assert len(set(bench.finding_ids)) == 1
    assert bench.telemetry.counts["EventsReceived"] == 3
    bench.take(envelope(event(2, 6)))
    assert len(bench.finding_ids) == 3


class LosesAnswer(MemoryNodeStates):
    """The first commit takes effect and its answer is lost; the client's own retry then finds a conflict."""

    def __init__(self) -> None:
        super().__init__()
        self._lost = False

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        if not self._lost:
            self._lost = True
            super().commit(states, now)
        return super().commit(states, now)


def test_a_commit_whose_answer_was_lost_is_found_to_be_done() -> None:
    states = LosesAnswer()
    bench = Bench(states=states)
    assert bench.take(envelope(event(0))) == []
    assert states.stored[NodeKey("c", "i-1")][1] == 1
    assert len(set(bench.finding_ids)) == 1


class OtherLane(MemoryNodeStates):
    """Before each of the first commits another worker writes the same node."""

    def __init__(self, others: Iterator[Envelope]) -> None:
        super().__init__()
        self._others = others
        self.rival: Bench | None = None

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        other = next(self._others, None)
        if other is not None and self.rival is not None:
            self.rival.overflow(other)
        return super().commit(states, now)


def test_a_node_written_by_the_other_lane_meanwhile_is_judged_again_on_top() -> None:
    shared = OtherLane(iter([envelope(event(7, 7, xid=63)), envelope(event(8, 8, xid=13))]))
    bench = Bench(states=shared)
    shared.rival = Bench(states=MemoryNodeStates())
    shared.rival.states.stored = shared.stored
    shared.rival.ports["states"].stored = shared.stored
    assert bench.take(envelope(event(0))) == []
    text, version, _ = shared.stored[NodeKey("c", "i-1")]
    assert version == 3
    state = NodeState.load(text)
    assert state is not None
    assert all(state.spool("spool").has(seq) for seq in (0, 7, 8))
    assert len(set(bench.finding_ids)) == 1


class AlwaysConflicts(MemoryNodeStates):
    """One node can never be committed; ``rounds`` counts the attempts."""

    def __init__(self, unlucky: NodeKey) -> None:
        super().__init__()
        self._unlucky = unlucky
        self.rounds = 0

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        self.rounds += 1
        commit = super().commit({key: one for key, one in states.items() if key != self._unlucky}, now)
        unlucky = frozenset({self._unlucky} & set(states))
        return Commit(commit.conflicts | unlucky, commit.failed)


def test_only_the_records_of_a_node_that_never_commits_come_again() -> None:
    states = AlwaysConflicts(NodeKey("c", "i-2"))
    bench = Bench(states=states)
    batch = [envelope(event(0), identity=node(name)) for name in ("i-1", "i-2", "i-3")]
    assert bench.take(*batch) == ["2"]
    assert states.rounds == MOST_ROUNDS
    assert set(states.stored) == {NodeKey("c", "i-1"), NodeKey("c", "i-3")}
    assert bench.telemetry.counts["NodesNotCommitted"] == 1


class OneFails(MemoryNodeStates):
    """One node's write is throttled."""

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        key = NodeKey("c", "i-2")
        commit = super().commit({one: state for one, state in states.items() if one != key}, now)
        return Commit(commit.conflicts, {key: DependencyError("throttled.")} if key in states else {})


def test_only_the_records_of_a_node_that_was_throttled_come_again() -> None:
    bench = Bench(states=OneFails())
    batch = [envelope(event(0), identity=node(name)) for name in ("i-1", "i-2", "i-2")]
    assert bench.take(*batch) == ["2", "3"]
    with pytest.raises(DependencyError, match="throttled"):
        bench.take(envelope(event(0), identity=node("i-2")))


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


@pytest.mark.parametrize(
    "change",
    [
        {"cluster": "my cluster"},
        {"cluster": "c" * 101},
        {"cluster": "é"},
        {"instance_id": "i" * 300},
        {"instance_id": "i 1"},
        {"boot_id": "b" * 5000},
        {"network_path": ["n"] * 50},
        {"name": "n" * 300},
    ],
)
def test_names_that_no_table_or_queue_takes_are_rejected_and_do_not_block_the_shard(change: dict[str, Any]) -> None:
    bench = Bench()
    document = json.loads(envelope(event(0)).to_json())
    document["node"] |= change
    assert bench.take(json.dumps(document).encode(), envelope(event(0))) == []
    assert len(bench.finding_ids) == 1
    (reject,) = bench.rejects.kept.values()
    assert reject.reason.startswith("the sender's ")


def test_a_spool_with_an_endless_name_is_rejected() -> None:
    bench = Bench()
    bench.take(envelope(event(0), spool="s" * 1000))
    assert len(bench.rejects.kept) == 1
