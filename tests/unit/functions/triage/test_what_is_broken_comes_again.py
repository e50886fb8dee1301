"""A dependency that fails, a worker that dies, a rival that was faster: nothing is lost, nothing counts twice."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest

from functions.ports.triage import Commit, NodeKey, StoredState
from functions.triage.triage import MOST_ROUNDS
from functions.twins.triage import MemoryDecisions, MemoryNodeStates, MemoryRejects
from policies.contract.envelope import Envelope
from policies.contract.errors import DependencyError
from policies.node_state import NodeState
from tests.tools.envelopes import envelope, event, node
from tests.tools.policy_table import in_force
from tests.tools.triage_bench import Bench


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


def test_who_was_heard_that_cannot_be_written_stops_no_fault() -> None:
    bench = Bench()
    seen: Any = Broken(bench.seen, "write")
    bench.seen = seen
    bench.triage = bench.worker()
    assert bench.take(envelope(event(0))) == []
    assert len(bench.finding_ids) == 1
    assert bench.telemetry.counts["SeenNotWritten"] == 1
    seen.down = False
    assert bench.take(envelope(event(1, xid=63))) == []
    assert seen.last_seen("c", "i-1") is not None
