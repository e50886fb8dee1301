"""A rule about a job, rack, switch or cluster counts nothing on the node: triage says what the node adds to it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from functions.place_book import PlaceBook
from functions.triage.adding import MOST_ENTRIES, pack_contributions
from functions.triage.batching import MESSAGE_LIMIT_BYTES
from functions.triage.places import Places
from functions.twins.topology import MemoryTopology
from policies.contract.decisions import Contributions, parse_message
from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, JobRef
from policies.contract.vocabulary import Kind
from policies.evaluator import evaluate
from policies.rulebook import Rulebook
from tests.tools.envelopes import NOW, at, delivery, envelope, event, node, policy, rules
from tests.tools.policy_table import in_force
from tests.tools.triage_bench import Bench

JOB = JobRef(id="train/llm", rank=3)
PATH = ("nn-spine", "nn-switch", "nn-rack")


def document(per: str = "cluster", **count: object) -> dict[str, object]:
    return {
        "name": "many-stalled",
        "mode": "active",
        "why": "They share a file server.",
        "when": 'event.kind == "storage.nfs_stalled"',
        "count": {"at_least": 3, "within": "10m", "per": per, "distinct": "node.instance_id", **count},
        "do": ["page_operator"],
    }


def book(per: str = "cluster", **count: object) -> Rulebook:
    return rules(policy(**document(per, **count)))


def stalled(seq: int = 0, seconds: float = 0, **more: Any) -> FaultEvent:  # noqa: ANN401 - as `event` takes them
    return event(seq, seconds, kind=Kind.STORAGE_NFS_STALLED, component=None, **more)


def placed(instance_id: str = "i-1") -> NodeIdentity:
    return node(instance_id).model_copy(update={"network_path": PATH})


def contributed(
    per: str = "cluster", *, identity: NodeIdentity | None = None, job: JobRef | None = JOB
) -> tuple[Contributions, ...]:
    told = delivery(stalled(job=job), identity=identity or placed())
    return evaluate([told], state="", rulebook=book(per), now=at(1)).contributions


@pytest.mark.parametrize(
    ("per", "scope"),
    [("cluster", "cluster"), ("job", "job:train/llm"), ("rack", "rack:nn-rack"), ("switch", "switch:nn-switch")],
)
def test_each_scope_has_its_key(per: str, scope: str) -> None:
    (group,) = contributed(per)
    assert (group.scope, group.rule.per, group.rule.at_least) == (scope, per, 3)
    (entry,) = group.entries
    assert (entry.distinct, entry.node.instance_id, entry.moment_ms) == ("i-1", "i-1", int(NOW.timestamp() * 1000))


def test_the_node_itself_counts_nothing() -> None:
    judged = evaluate([delivery(stalled())], state="", rulebook=book(at_least=1), now=at(1))
    assert judged.findings == ()
    assert judged.matches == 1
    assert '"c":{}' in judged.state


@pytest.mark.parametrize("per", ["job", "rack", "switch"])
def test_what_is_not_known_is_unanswered_and_told(per: str) -> None:
    told = delivery(stalled())
    judged = evaluate([told], state="", rulebook=book(per), now=at(1))
    assert judged.contributions == ()
    assert [(one.field, one.path, one.times) for one in judged.refused] == [("count.per", per, 1)]


def test_a_path_of_one_layer_names_no_switch() -> None:
    short = node().model_copy(update={"network_path": ("nn-rack",)})
    assert contributed("switch", identity=short) == ()
    assert len(contributed("rack", identity=short)) == 1


def test_the_same_event_is_the_same_contribution_whatever_the_revision() -> None:
    told = delivery(stalled())
    first, second = (
        evaluate([told], state="", rulebook=rules(policy(**document()), revision=one), now=at(1)).contributions[0]
        for one in (1, 2)
    )
    assert first.entries == second.entries
    assert first.rule != second.rule


def test_where_nodes_are_may_be_counted_and_a_node_without_a_place_is_unanswered() -> None:
    rulebook = book(distinct="node.network_path")
    judged = evaluate([delivery(stalled(), identity=placed())], state="", rulebook=rulebook, now=at(1))
    assert judged.contributions[0].entries[0].distinct == "/".join(PATH)
    judged = evaluate([delivery(stalled())], state="", rulebook=rulebook, now=at(1))
    assert [one.field for one in judged.refused] == ["count.distinct"]


def test_what_it_carries_is_bounded() -> None:
    monster = stalled(message="x" * 2000, attributes={f"{one:0100d}": "é" * 500 for one in range(60)})
    judged = evaluate([delivery(monster)], state="", rulebook=book(), now=at(1))
    assert len(judged.contributions[0].entries[0].to_json().encode()) < 3000


def many(number: int, message: str = "") -> list[Contributions]:
    told = [delivery(stalled(message=message), identity=node(f"i-{one:05d}")) for one in range(number)]
    return [each for one in told for each in evaluate([one], state="", rulebook=book(), now=at(1)).contributions]


def test_contributions_travel_together_in_messages_of_bounded_size() -> None:
    groups = many(750, message="x" * 250)
    messages = pack_contributions(groups)
    assert len(messages) == 750 // MOST_ENTRIES + 1
    assert all(len(one.to_json().encode()) <= MESSAGE_LIMIT_BYTES + 4096 for one in messages)
    entries = [entry.id for one in messages for group in one.contributions for entry in group.entries]
    assert sorted(entries) == sorted(entry.id for group in groups for entry in group.entries)
    assert parse_message(messages[0].to_json()) == messages[0]
    assert len({one.deduplication_id for one in messages}) == len(messages)


def test_order_and_repeats_change_no_message() -> None:
    groups = many(30)
    straight, mixed = pack_contributions(groups), pack_contributions([*reversed(groups), *groups])
    assert [one.to_json() for one in straight] == [one.to_json() for one in mixed]


def test_clusters_never_share_a_message() -> None:
    (ours,) = many(1)
    theirs = replace_cluster(ours)
    assert [one.cluster for one in pack_contributions([theirs, ours])] == ["c", "d"]


def replace_cluster(group: Contributions) -> Contributions:
    (entry,) = group.entries
    moved = entry.model_copy(update={"node": node(cluster="d")})
    return group.model_copy(update={"entries": (moved,)})


def test_a_batch_that_comes_again_contributes_the_same() -> None:
    bench = Bench(policies=in_force([document()]))
    body = envelope(stalled(), identity=node("i-1"))
    bench.take(body)
    bench.states.stored.clear()  # as if it had died before the commit
    bench.take(body)
    first, second = bench.decisions.sent
    assert first.deduplication_id == second.deduplication_id
    assert first.contributions == second.contributions
    assert bench.telemetry.counts["ContributionsSent"] == 2
    bench.take(body)
    assert len(bench.decisions.sent) == 2


def test_a_node_that_does_not_say_where_it_is_is_looked_up_once() -> None:
    topology = CountingTopology()
    topology.keep(placed("i-1"), at(9999))
    bench = Bench(policies=in_force([document("rack")]), places=Places(PlaceBook(topology)))
    for seq in range(3):
        bench.take(envelope(stalled(seq), identity=node("i-1")))
    assert [group.scope for one in bench.decisions.sent for group in one.contributions] == ["rack:nn-rack"] * 3
    assert topology.asked == [("i-1",)]


def test_a_node_whose_event_may_take_a_reason_away_by_its_place_is_looked_up() -> None:
    topology = CountingTopology()
    cancelled = 'event.kind == "host.panic" && neighbours.same_kind_rack == 0'
    rule = {**document(), "count": {"at_least": 1, "within": "1m"}, "cancel_when": cancelled}
    bench = Bench(policies=in_force([rule]), places=Places(PlaceBook(topology)))
    bench.take(envelope(event(kind=Kind.HOST_PANIC, component=None), identity=node("i-1")))
    assert topology.asked == [("i-1",)]


def test_nobody_else_is_looked_up() -> None:
    topology = CountingTopology()
    bench = Bench(policies=in_force([document("rack")]), places=Places(PlaceBook(topology)))
    bench.take(
        envelope(stalled(), identity=placed("i-1")),
        envelope(event(0), identity=node("i-2")),
        envelope(identity=node("i-3")),
    )
    other = Bench(policies=in_force([document("cluster")]), places=Places(PlaceBook(topology)))
    other.take(envelope(stalled(), identity=node("i-4")))
    assert topology.asked == []


def test_a_place_that_is_not_known_yet_is_asked_for_again_after_a_minute() -> None:
    topology = CountingTopology()
    bench = Bench(policies=in_force([document("rack")]), places=Places(PlaceBook(topology)))
    for seq, seconds in enumerate((0, 30, 61)):
        bench.now = at(1 + seconds)
        if seconds == 30:
            topology.keep(placed("i-1"), at(9999))
        bench.take(envelope(stalled(seq, seconds), identity=node("i-1"), sent=seconds), arrived=seconds)
    assert len(topology.asked) == 2
    assert len(bench.decisions.sent) == 1


class CountingTopology(MemoryTopology):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, ...]] = []

    def find(self, clusters: Sequence[str], instance_ids: Sequence[str]) -> Mapping[str, NodeIdentity]:
        self.asked.append(tuple(instance_ids))
        return super().find(clusters, instance_ids)
