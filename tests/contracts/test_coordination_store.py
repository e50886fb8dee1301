"""Coordinate's documents: the twin and DynamoDB keep the same promises."""

import boto3
import pytest
from moto import mock_aws

from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.adapters.coordination_items import (
    WINDOWS_KEPT_SECONDS,
    incident_item,
    read_incident,
    window_item,
)
from functions.ports.coordination import CoordinationStore
from policies.contract.decisions import Limit
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import RECORDED, PolicyMode
from policies.coordination.budgets import Budget, reserve
from policies.coordination.decide import decide
from policies.coordination.denying import DENIED
from policies.coordination.holds import Job, hold
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease, acquire, release
from policies.coordination.snapshot import Change, ConflictError, Keys, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.windows import count
from tests.tools.incidents import CLUSTER, RULES, START, ask, at, finding, findings, plan
from tests.tools.tables import create_tables
from tests.tools.wide import contribution, in_one


def opened(node: str = "i-1", cluster: str = CLUSTER) -> Incident:
    snapshot = Snapshot(cluster)
    message = findings(finding(node, cluster=cluster, job=None))
    return decide(snapshot, [message], START, rules=RULES).incidents[0].after


def lease_of(incident: Incident) -> Lease:
    return acquire(
        None, cluster=incident.cluster, generation=incident.generation, incident=incident.id, until=incident.deadline
    )


def touched(incident: Incident, seconds: float = 1) -> Incident:
    return incident.model_copy(update={"version": incident.version + 1, "updated_at": at(seconds)})


def test_what_is_written_is_read_back_whole(store: CoordinationStore) -> None:
    incident = opened()
    asked = decide(
        Snapshot(CLUSTER, {incident.id: incident}, {incident.generation: lease_of(incident)}),
        [ask(incident.id, token="a-token")],
        at(1),
        rules=RULES,
    ).incidents[0]
    budget = reserve(
        Budget(cluster=CLUSTER, scope="r#cluster"), incident.id, Limit(at_most=1, within_seconds=60), size=0, now=START
    )
    assert budget
    job = hold(Job(cluster=CLUSTER, id="train/llm"), incident.id)
    store.write(Change(None, incident))
    store.write(asked)
    store.write(Change(None, lease_of(incident)))
    store.write(Change(None, job))
    store.write(Change(None, budget))
    keys = Keys(
        frozenset({incident.id, "absent"}),
        frozenset({incident.generation, "i-9#0"}),
        frozenset({"train/llm"}),
        frozenset({"r#cluster"}),
    )
    found = store.read(CLUSTER, keys)
    assert found.incidents == {incident.id: asked.after}
    assert asked.after.ask
    assert asked.after.ask.token == "a-token"
    assert found.leases == {incident.generation: lease_of(incident)}
    assert found.jobs == {"train/llm": job}
    assert found.budgets == {"r#cluster": budget}


def test_a_first_write_finds_nothing_there(store: CoordinationStore) -> None:
    store.write(Change(None, opened()))
    with pytest.raises(ConflictError):
        store.write(Change(None, opened()))


def test_a_later_write_finds_the_version_it_read(store: CoordinationStore) -> None:
    first = opened()
    store.write(Change(None, first))
    store.write(Change(first, touched(first)))
    with pytest.raises(ConflictError):
        store.write(Change(first, touched(first, 2)))
    assert store.read(CLUSTER, Keys(frozenset({first.id}))).incidents[first.id].updated_at == at(1)


def test_a_change_of_what_is_gone_conflicts(store: CoordinationStore) -> None:
    lease = lease_of(opened())
    with pytest.raises(ConflictError):
        store.write(Change(lease, lease.model_copy(update={"version": 2})))


def test_of_two_writers_of_a_job_one_reads_again(store: CoordinationStore) -> None:
    job = Job(cluster=CLUSTER, id="train/llm")
    store.write(Change(None, hold(job, "a")))
    read = store.read(CLUSTER, Keys(jobs=frozenset({job.id}))).jobs[job.id]
    store.write(Change(read, hold(read, "b").model_copy(update={"version": 2})))
    with pytest.raises(ConflictError):
        store.write(Change(read, hold(read, "c").model_copy(update={"version": 2})))
    assert store.read(CLUSTER, Keys(jobs=frozenset({job.id}))).jobs[job.id].holds == ("a", "b")


def test_what_was_counted_and_where_it_is_told_is_read_back_whole(store: CoordinationStore) -> None:
    shadow = plan(mode=PolicyMode.SHADOW)
    many = [finding(name=f"f{number}", policy=shadow, seen=at(number)) for number in range(40)]
    decision = decide(Snapshot(CLUSTER), [findings(*many)], at(50), rules=RULES)
    (incident,), (lease,) = decision.incidents, decision.leases
    store.write(lease)
    store.write(incident)
    keys = Keys(incidents=frozenset({incident.after.id}), leases=frozenset({lease.after.generation}))
    found = store.read(CLUSTER, keys)
    assert found.incidents == {incident.after.id: incident.after}
    assert found.leases == {lease.after.generation: lease.after}
    more = findings(finding(name="one-more", policy=shadow, seen=at(60)), many[-1])
    again = decide(found, [more], at(61), rules=RULES)
    assert [change.after.findings[0].times for change in again.incidents] == [41]


def test_a_released_lease_is_still_there(store: CoordinationStore) -> None:
    lease = lease_of(opened())
    store.write(Change(None, lease))
    store.write(Change(lease, release(lease, "replaced", at(9)).model_copy(update={"version": 2})))
    found = store.read(CLUSTER, Keys(leases=frozenset({lease.generation}))).leases[lease.generation]
    assert (found.released, found.outcome, found.released_at) == (True, "replaced", at(9))


def test_running_incidents_are_listed_by_cluster_longest_unchanged_first(store: CoordinationStore) -> None:
    first, second, elsewhere = opened("i-1"), opened("i-2"), opened("i-3", "sage")
    for incident in (first, second, elsewhere):
        store.write(Change(None, incident))
    store.write(Change(first, touched(first, 5)))
    for node, status in (("i-4", IncidentStatus.CLOSED), ("i-5", IncidentStatus.PARKED)):
        store.write(Change(None, opened(node).model_copy(update={"status": status})))
    assert store.list_running(CLUSTER) == (second.id, first.id)


def test_what_was_recorded_for_a_no_is_listed_by_cluster_and_when_it_changed(store: CoordinationStore) -> None:
    for number, (cluster, facts, seconds) in enumerate(
        [(CLUSTER, "x", 61), (CLUSTER, "x", 60), (CLUSTER, "", 61), ("sage", "x", 61), (CLUSTER, "x", 62)]
    ):
        told = {"status": IncidentStatus.CLOSED, "outcome": RECORDED, "facts": {DENIED: facts} if facts else {}}
        store.write(Change(None, touched(opened(f"i-{number}", cluster), seconds).model_copy(update=told)))
    store.write(Change(None, touched(opened("i-9"), 61).model_copy(update={"facts": {DENIED: "x"}})))
    found = store.list_denied(CLUSTER, at(60))
    assert found == tuple(sorted(opened(each).id for each in ("i-0", "i-4")))
    assert store.list_denied(CLUSTER, at(62)) == ()


def test_clusters_do_not_see_each_other(store: CoordinationStore) -> None:
    incident = opened()
    store.write(Change(None, incident))
    store.write(Change(None, lease_of(incident)))
    found = store.read("sage", Keys(frozenset({incident.id}), frozenset({incident.generation})))
    assert not found.incidents
    assert not found.leases


def test_more_keys_than_one_read_takes(store: CoordinationStore) -> None:
    incidents = [opened(f"i-{number}") for number in range(130)]
    for incident in incidents:
        store.write(Change(None, incident))
    found = store.read(CLUSTER, Keys(frozenset(each.id for each in incidents)))
    assert len(found.incidents) == 130
    assert store.read(CLUSTER, Keys()).incidents == {}


def test_lines_may_be_written_again(store: CoordinationStore) -> None:
    incident = opened()
    store.write(Change(None, incident))
    store.write_lines(incident)
    store.write_lines(incident)


def test_a_missing_table_is_a_dependency_that_failed() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        store = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        with pytest.raises(DependencyError, match="deploy again"):
            store.write(Change(None, opened()))
        with pytest.raises(DependencyError):
            store.read(CLUSTER, Keys(frozenset({"x"})))
        with pytest.raises(DependencyError):
            store.list_running(CLUSTER)


def test_items_can_be_read_by_a_person_and_an_index() -> None:
    incident = opened()
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        store = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        store.write(Change(None, incident))
        store.write_lines(incident)
        items = client.query(
            TableName="incidents",
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"INCIDENT#{incident.id}"}},
        )["Items"]
    assert [item["sk"]["S"] for item in items] == ["META", "T#00000001", "T#00000002", "T#00000003"]
    meta, *lines = items
    assert meta["cluster_status"]["S"] == "west#open"
    assert meta["node_key"]["S"] == "west#i-1"
    assert "job_key" not in meta
    assert [line["stage"]["S"] for line in lines] == ["seen", "queued", "decided"]
    assert lines[0]["at"]["S"] == "2026-03-01T10:00:00.000000Z"


def test_a_document_somebody_broke_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    good, bad = opened("i-1"), opened("i-2")
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        store = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        store.write(Change(None, good))
        store.write(Change(None, bad))
        client.update_item(
            TableName="incidents",
            Key={"pk": {"S": f"INCIDENT#{bad.id}"}, "sk": {"S": "META"}},
            UpdateExpression="SET document = :d",
            ExpressionAttributeValues={":d": {"S": "{"}},
        )
        found = store.read(CLUSTER, Keys(frozenset({good.id, bad.id})))
    assert set(found.incidents) == {good.id}
    assert bad.id in caplog.text


def test_the_task_token_stands_apart_from_the_document() -> None:
    incident = opened()
    lease = lease_of(incident)
    asked = (
        decide(
            Snapshot(CLUSTER, {incident.id: incident}, {lease.generation: lease}),
            [ask(incident.id, token="secret")],
            at(1),
            rules=RULES,
        )
        .incidents[0]
        .after
    )
    item = incident_item(asked)
    assert "secret" not in item["document"]["S"]
    assert item["task_token"] == {"S": "secret"}
    assert read_incident(item) == asked


def test_a_window_of_many_nodes_is_read_back_whole_and_by_its_cluster_alone(store: CoordinationStore) -> None:
    entries = [
        contribution(f"i-{number}", number, occurrence=f"{number:032x}" if number % 2 else None) for number in range(6)
    ]
    window = count(None, in_one(entries), CLUSTER).window
    store.write(Change(None, window))
    keys = Keys(windows=frozenset({window.key, "another|cluster"}))
    assert store.read(CLUSTER, keys).windows == {window.key: window}
    assert store.read("east", keys).windows == {}


def test_of_two_writers_of_a_window_one_reads_again(store: CoordinationStore) -> None:
    window = count(None, in_one([contribution("i-1")]), CLUSTER).window
    store.write(Change(None, window))
    with pytest.raises(ConflictError):
        store.write(Change(None, window))
    more = count(window, in_one([contribution("i-2")]), CLUSTER).window.model_copy(update={"version": 2})
    store.write(Change(window, more))
    with pytest.raises(ConflictError):
        store.write(Change(window, more))
    assert store.read(CLUSTER, Keys(windows=frozenset({window.key}))).windows == {window.key: more}


def test_a_window_that_nobody_adds_to_is_forgotten_after_days() -> None:
    window = count(None, in_one([contribution("i-1")]), CLUSTER).window
    expires = int(window_item(window)["expires"]["N"])
    assert expires - window.newest // 1000 == WINDOWS_KEPT_SECONDS
