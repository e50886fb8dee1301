"""Facts are read for the nodes that a rule may ask about, in one call, and remembered for some seconds."""

from collections.abc import Collection, Mapping
from datetime import timedelta

import pytest

from functions.ports.facts import FactKey
from functions.triage.facts import REMEMBERED, FactBook
from functions.triage.records import Record
from functions.triage.sorting import sort_records
from functions.twins.facts import MemoryFacts
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.facts.maintenance import Maintenance
from tests.tools.envelopes import NOW, at, envelope, event, node, policy, rules
from tests.tools.policy_table import in_force
from tests.tools.triage_bench import Bench

KEY = FactKey(node().cluster, "maintenance", "i-1")
EXCEPTING = {
    "name": "lost-gpu",
    "mode": "active",
    "why": "for a test",
    "when": 'event.kind == "gpu.xid" && event.attributes.xid == 79',
    "unless": "node.in_maintenance",
    "do": ["isolate"],
}
IN_HAND = Maintenance(until=NOW + timedelta(hours=1), by="ann", why="new cable").model_dump_json()


def bench(facts: MemoryFacts) -> Bench:
    table = in_force([EXCEPTING])
    return Bench(policies=table, facts=FactBook(facts, MemoryTelemetry()))


def test_a_node_that_a_person_has_in_hand_is_excepted_and_its_neighbour_is_not() -> None:
    facts = MemoryFacts()
    facts.texts[KEY] = IN_HAND
    triage = bench(facts)
    triage.take(envelope(event(0)), envelope(event(0), identity=node("i-2")))
    (found,) = [one for message in triage.decisions.sent for one in message.findings]
    assert (found.node.instance_id, found.facts) == ("i-2", {"node.in_maintenance": False, "facts.age_seconds": 0.0})
    assert facts.reads == [frozenset({KEY, KEY._replace(subject="i-2")})]


def test_nothing_is_read_for_events_that_no_asking_rule_may_meet() -> None:
    facts = MemoryFacts()
    bench(facts).take(envelope(event(0, attributes={"xid": 13})), envelope())
    assert facts.reads == []


def test_a_warm_worker_remembers_for_some_seconds() -> None:
    facts = MemoryFacts()
    triage = bench(facts)
    for seq, seconds in enumerate((1, 2, 1 + REMEMBERED.total_seconds())):
        triage.now = at(seconds)
        triage.take(envelope(event(seq, seconds), first_seq=seq))
    assert len(facts.reads) == 2


def test_a_document_that_nobody_can_read_is_unknown_and_stops_nothing() -> None:
    facts, telemetry = MemoryFacts(), MemoryTelemetry()
    facts.texts[KEY] = '{"until": "tomorrow"}'
    triage = Bench(policies=in_force([EXCEPTING]), facts=FactBook(facts, telemetry))
    triage.take(envelope(event(0)))
    (found,) = [one for message in triage.decisions.sent for one in message.findings]
    assert found.facts == {}
    assert telemetry.counts["FactsUnreadable"] == 1


class BrokenFacts(MemoryFacts):
    def read(self, keys: Collection[FactKey]) -> Mapping[FactKey, str]:
        raise DependencyError("the table is throttled.")


def test_facts_that_cannot_be_read_block_the_batch_like_any_other_read() -> None:
    with pytest.raises(DependencyError):
        bench(BrokenFacts()).take(envelope(event(0)))


def test_what_counts_no_more_is_not_kept_however_long_the_worker_lives() -> None:
    nodes = [node(f"i-{number}") for number in range(10)]
    book = FactBook(MemoryFacts(), MemoryTelemetry())
    rulebook = rules(policy(unless="node.in_maintenance"))
    for number, one in enumerate(nodes * 20):
        batch = sort_records([Record("r", "r", "faults", envelope(event(0), identity=one).to_json().encode(), NOW)])
        book.of(batch.nodes, rulebook, at(number * REMEMBERED.total_seconds() / 4))
        assert book.remembered <= 4
