"""What coordinate keeps of the past: the twin and DynamoDB keep the same promises, and triage reads it."""

from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.adapters.coordination_items import history_key, misses_item_key, recent_key, record_item_key
from functions.adapters.facts import DynamoFacts
from functions.ports.coordination import CoordinationStore
from functions.ports.facts import FactKey
from policies.contract.events import JobRef
from policies.contract.rungs import Rung
from policies.coordination.decide import decide
from policies.coordination.leases import acquire
from policies.coordination.snapshot import Change, ConflictError, Keys, Snapshot
from policies.coordination.states import IncidentStatus
from policies.facts.history import HISTORY, History, Past
from policies.facts.recent import RECENT, Recent, Sign
from policies.precision.misses import Misses, Restart
from policies.precision.record import Act, Grade, Ground, Record
from tests.tools.incidents import CLUSTER, RULES, START, at, finding, findings
from tests.tools.tables import create_tables


def test_the_past_is_read_as_it_was_kept_and_what_was_never_kept_is_told_apart(store: CoordinationStore) -> None:
    entry = Past(
        incident="a", policy="p", fault="gpu.xid 79", at=START, did=(Rung.ISOLATE,), repaired_at=at(5), job="j"
    )
    history = History(cluster=CLUSTER, instance="i-1", past=(entry,))
    recent = Recent(cluster=CLUSTER, signs=(Sign("gpu.xid 79", "i-1", START, "rack-1"),))
    keys = Keys(leases=frozenset({"i-1#0"}), histories=frozenset({"i-1", "i-2"}), recents=frozenset({""}))
    before = store.read(CLUSTER, keys)
    assert (before.histories, before.recents) == ({"i-1": None, "i-2": None}, {"": None})
    lease = acquire(None, cluster=CLUSTER, generation="i-1#0", incident="a", until=at(900))
    store.write(Change(None, lease))
    store.write(Change(None, history))
    store.write(Change(None, recent))
    longer = history.model_copy(update={"version": 2, "past": (entry, entry.model_copy(update={"incident": "b"}))})
    store.write(Change(history, longer))
    with pytest.raises(ConflictError):
        store.write(Change(history, longer))
    after = store.read(CLUSTER, keys)
    assert (after.histories, after.recents) == ({"i-1": longer, "i-2": None}, {"": recent})
    assert after.leases == {"i-1#0": lease}


def test_a_past_that_somebody_broke_is_begun_anew() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        table = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        client.put_item(TableName="fleet", Item={**history_key(CLUSTER, "i-1"), "document": {"S": "junk"}})
        client.put_item(TableName="fleet", Item={**recent_key(CLUSTER), "version": {"N": "7"}})
        keys = Keys(histories=frozenset({"i-1"}), recents=frozenset({""}))
        found = table.read(CLUSTER, keys)
        assert found.histories == {"i-1": History(cluster=CLUSTER, instance="i-1", version=0)}
        assert found.recents == {"": Recent(cluster=CLUSTER, version=7)}
        history, recent = found.histories["i-1"], found.recents[""]
        assert history
        assert recent
        table.write(Change(history, history.model_copy(update={"version": 1})))
        table.write(Change(recent, recent.model_copy(update={"version": 8})))
        assert table.read(CLUSTER, keys).histories == {"i-1": History(cluster=CLUSTER, instance="i-1")}


BROKEN_VERSIONS: list[dict[str, Any]] = [
    {},
    {"version": {"N": "9"}},
    {"version": {"S": "x"}},
    {"version": {"NULL": True}},
    {"version": {"M": {}}},
]


@pytest.mark.parametrize("version", BROKEN_VERSIONS)
@pytest.mark.parametrize("whole", [True, False])
def test_whatever_somebody_made_of_an_item_the_next_decision_can_write_it(
    version: dict[str, Any],
    whole: bool,
) -> None:
    keys = Keys(*([frozenset[str]()] * 5), *(frozenset({each}) for each in ("i-1", "", "p", "")))
    pasted: list[tuple[Any, Any]] = [
        (history_key(CLUSTER, "i-1"), History(cluster="east", instance="i-9", version=3)),
        (recent_key(CLUSTER), Recent(cluster="east", version=3)),
        (record_item_key(CLUSTER, "p"), Record(cluster="east", policy="q", version=3)),
        (misses_item_key(CLUSTER), Misses(cluster="east", version=3)),
    ]
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        table = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        for key, document in pasted:
            text = document.model_dump_json() if whole else "{"
            client.put_item(TableName="fleet", Item={**key, **version, "document": {"S": text}})
        found = table.read(CLUSTER, keys)
        read: list[Any] = [found.histories["i-1"], found.recents[""], found.records["p"], found.misses[""]]
        for before in read:
            table.write(Change(before, before.model_copy(update={"version": before.version + 1})))
        after = table.read(CLUSTER, keys)
    assert after.histories == {"i-1": History(cluster=CLUSTER, instance="i-1", version=read[0].version + 1)}
    assert after.records == {"p": Record(cluster=CLUSTER, policy="p", version=read[2].version + 1)}


def test_triage_reads_what_coordinate_keeps_of_the_past() -> None:
    entry = Past(incident="a", policy="p", fault="gpu.xid 79", at=START)
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        table = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        table.write(Change(None, History(cluster=CLUSTER, instance="i-1", past=(entry,))))
        table.write(Change(None, Recent(cluster=CLUSTER, signs=(Sign("gpu.xid 79", "i-1", START),))))
        keys = [FactKey(CLUSTER, "history", "i-1"), FactKey(CLUSTER, "recent")]
        texts = DynamoFacts(client, "fleet").read(keys)
    assert HISTORY.parse(texts[keys[0]]).past == (entry,)
    assert RECENT.parse(texts[keys[1]]) is not None


def test_records_and_misses_are_read_as_they_were_kept(store: CoordinationStore) -> None:
    act = Act(incident="a", at=START, node="i-1", generation="i-1#0", replaced=True, successor="i-2", changed_at=at(5))
    said = Ground(grade=Grade.PERSON, faulty=False, at=at(9), why="passed", by="ann")
    record = Record(cluster=CLUSTER, policy="lost-gpu", acts=(act.model_copy(update={"grounds": (said,)}),))
    ended = Restart(id="f", job="train/a", node="i-1", kind="job.failed", at=START, policies=("lost-gpu",))
    misses = Misses(cluster=CLUSTER, restarts=(ended,))
    keys = Keys(records=frozenset({"lost-gpu", "other"}), misses=frozenset({""}))
    before = store.read(CLUSTER, keys)
    assert (before.records, before.misses) == ({"lost-gpu": None, "other": None}, {"": None})
    store.write(Change(None, record))
    store.write(Change(None, misses))
    longer = record.model_copy(update={"version": 2, "acts": (*record.acts, act.model_copy(update={"incident": "b"}))})
    store.write(Change(record, longer))
    with pytest.raises(ConflictError):
        store.write(Change(record, longer))
    after = store.read(CLUSTER, keys)
    assert (after.records, after.misses) == ({"lost-gpu": longer, "other": None}, {"": misses})
    assert store.read("east", keys).records == {"lost-gpu": None, "other": None}


def test_records_that_somebody_broke_are_begun_anew() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        table = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        client.put_item(TableName="fleet", Item={**record_item_key(CLUSTER, "p"), "document": {"S": "junk"}})
        client.put_item(TableName="fleet", Item={**misses_item_key(CLUSTER), "version": {"N": "7"}})
        found = table.read(CLUSTER, Keys(records=frozenset({"p"}), misses=frozenset({""})))
    assert found.records == {"p": Record(cluster=CLUSTER, policy="p", version=0)}
    assert found.misses == {"": Misses(cluster=CLUSTER, version=7)}


def test_the_open_incidents_of_a_run_are_listed_and_no_others(store: CoordinationStore) -> None:
    made = decide(Snapshot(CLUSTER), [findings(*(finding(f"i-{number}") for number in range(3)))], START, rules=RULES)
    first, second, third = (change.after for change in made.incidents)
    closed = first.model_copy(update={"status": IncidentStatus.CLOSED})
    other = second.model_copy(update={"job": JobRef(id="train/other")})
    parked = third.model_copy(update={"status": IncidentStatus.PARKED})
    for incident in (closed, other, parked):
        store.write(Change(None, incident))
    assert store.list_open(CLUSTER, {"train/llm"}) == (parked.id,)
    assert store.list_open(CLUSTER, {"train/nobody"}) == ()
    assert store.list_open("east", {"train/llm"}) == ()
    assert store.list_open(CLUSTER, ()) == ()
    runs = {"train/llm", "train/other", *(f"train/{number}" for number in range(250))}
    assert sorted(store.list_open(CLUSTER, runs)) == sorted([other.id, parked.id])
