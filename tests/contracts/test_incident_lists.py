"""Lists of incidents: the twin and DynamoDB tell the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.adapters.incident_lists import DynamoIncidentLists
from functions.ports.coordination import CoordinationStore
from functions.ports.incident_lists import IncidentLists
from functions.twins.incident_lists import MemoryIncidentLists
from policies.contract.errors import DependencyError
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Change, Snapshot
from policies.coordination.states import IncidentStatus
from tests.tools.incidents import CLUSTER, RULES, START, at, finding, findings
from tests.tools.tables import create_tables


@dataclass(frozen=True)
class World:
    lists: IncidentLists
    store: CoordinationStore

    def put(self, node: str, status: IncidentStatus, changed: float) -> Incident:
        opened = decide(Snapshot(CLUSTER), [findings(finding(node))], START, rules=RULES).incidents[0].after
        incident = opened.model_copy(update={"status": status, "updated_at": at(changed)})
        self.store.write(Change(None, incident))
        return incident


@pytest.fixture(params=["memory", "dynamodb"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        store = MemoryStore()
        yield World(MemoryIncidentLists(store), store)
        return
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        real = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        yield World(DynamoIncidentLists(client, "incidents"), real)


def test_they_are_told_by_whether_they_are_open_and_the_last_changed_first(world: World) -> None:
    acting, parked = world.put("i-1", IncidentStatus.ACTING, 1), world.put("i-2", IncidentStatus.PARKED, 2)
    old, new = world.put("i-3", IncidentStatus.CLOSED, 3), world.put("i-4", IncidentStatus.CLOSED, 4)
    assert world.lists.open(CLUSTER, 10) == [parked, acting]
    assert world.lists.closed(CLUSTER, START, 10) == [new, old]
    assert world.lists.closed(CLUSTER, START + timedelta(seconds=3), 10) == [new]
    assert world.lists.open("elsewhere", 10) == []


def test_of_too_many_the_last_changed_are_told(world: World) -> None:
    made = [world.put(f"i-{number}", IncidentStatus.CLOSED, number) for number in range(5)]
    assert world.lists.closed(CLUSTER, START - timedelta(seconds=1), 2) == [made[4], made[3]]


def test_what_cannot_be_read_is_left_out_and_said_and_a_table_that_is_gone_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        store = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        known = World(DynamoIncidentLists(client, "incidents"), store).put("i-1", IncidentStatus.ACTING, 1)
        broken = {"pk": "INCIDENT#x", "sk": "META", "cluster_status": f"{CLUSTER}#open", "updated_at": "2026"}
        client.put_item(TableName="incidents", Item={name: {"S": value} for name, value in broken.items()})
        assert DynamoIncidentLists(client, "incidents").open(CLUSTER, 10) == [known]
        assert "cannot be read" in caplog.text
        with pytest.raises(DependencyError):
            DynamoIncidentLists(client, "gone").open(CLUSTER, 10)
