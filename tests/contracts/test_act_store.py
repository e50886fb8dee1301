"""The executors' records and reads: the twin and DynamoDB keep the same promises."""

from collections.abc import Iterator
from dataclasses import dataclass

import boto3
import pytest
from moto import mock_aws

from functions.adapters.acts import DynamoDBActStore, DynamoDBLeaseReader
from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.ports.acts import ActRecord, ActStore, LeaseReader
from functions.ports.coordination import CoordinationStore
from functions.twins.acts import MemoryActStore, MemoryLeaseReader
from policies.contract.rungs import Rung, RungStatus
from policies.coordination.decide import decide
from policies.coordination.leases import acquire
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Change, Snapshot
from tests.tools.incidents import CLUSTER, RULES, START, at, finding, findings, report
from tests.tools.tables import create_tables


@dataclass(frozen=True)
class Stores:
    documents: CoordinationStore
    acts: ActStore
    leases: LeaseReader


@pytest.fixture(params=["memory", "dynamodb"])
def stores(request: pytest.FixtureRequest) -> Iterator[Stores]:
    if request.param == "memory":
        memory = MemoryStore()
        yield Stores(memory, MemoryActStore(memory, CLUSTER), MemoryLeaseReader(memory))
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        yield Stores(
            DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents"),
            DynamoDBActStore(client, "incidents"),
            DynamoDBLeaseReader(client, "fleet"),
        )


def record(attempt: int = 1, fence: int = 1, rung: Rung = Rung.ISOLATE, turn: int = 0) -> ActRecord:
    return ActRecord(incident="abc", rung=rung, attempt=attempt, turn=turn, fence=fence, intended_at=at(attempt))


def test_the_incident_and_its_lease_are_those_of_coordinate(stores: Stores) -> None:
    incident = decide(Snapshot(CLUSTER), [findings(finding())], START, rules=RULES).incidents[0].after
    lease = acquire(None, cluster=CLUSTER, generation="i-1#0", incident=incident.id, until=incident.deadline)
    assert stores.acts.load_incident(incident.id) is None
    assert stores.leases.load_lease(CLUSTER, "i-1#0") is None
    stores.documents.write(Change(None, incident))
    stores.documents.write(Change(None, lease))
    assert stores.acts.load_incident(incident.id) == incident
    assert stores.leases.load_lease(CLUSTER, "i-1#0") == lease


def test_the_first_intention_stands(stores: Stores) -> None:
    assert stores.acts.intend(record()) == record()
    later = record().model_copy(update={"intended_at": at(60)})
    assert stores.acts.intend(later) == record()


def test_a_newer_fence_takes_the_record_over_and_an_older_one_does_not(stores: Stores) -> None:
    stores.acts.intend(record(fence=1))
    assert stores.acts.intend(record(fence=2, turn=1)).fence == 2
    assert stores.acts.intend(record(fence=1)).fence == 2


def test_a_report_is_kept_with_the_record(stores: Stores) -> None:
    stores.acts.intend(record())
    waiting = report(Rung.ISOLATE, RungStatus.WAITING, pods=["a", "b"])
    stores.acts.report(record(), waiting, at(5))
    done = report(Rung.ISOLATE, node="n")
    stores.acts.report(record(), done, at(9))
    (kept,) = stores.acts.load_acts("abc", Rung.ISOLATE)
    assert kept.report == done
    assert kept.updated_at == at(9)
    assert kept.intended_at == at(1)


def test_a_report_under_an_old_fence_changes_nothing(stores: Stores) -> None:
    stores.acts.intend(record(fence=1))
    stores.acts.intend(record(fence=2))
    stores.acts.report(record(fence=1), report(Rung.ISOLATE), at(5))
    (kept,) = stores.acts.load_acts("abc", Rung.ISOLATE)
    assert (kept.fence, kept.report) == (2, None)


def test_acts_are_listed_by_rung_oldest_attempt_first(stores: Stores) -> None:
    for attempt in (10, 2, 1):
        stores.acts.intend(record(attempt))
    stores.acts.intend(record(1, rung=Rung.SUSPEND_JOB))
    assert [each.attempt for each in stores.acts.load_acts("abc", Rung.ISOLATE)] == [1, 2, 10]
    assert stores.acts.load_acts("abc", Rung.REPLACE_NODE) == ()
