"""What lists and closings of `relight incident` do: the twins and AWS (on moto)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

from console.incident.adapters.closings import SqsClosings
from console.incident.adapters.incidents import DynamoIncidents
from console.incident.ports import Closings, Incidents
from console.incident.twins import MemoryClosings, MemoryIncidents
from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.ports.coordination import CoordinationStore
from policies.contract.decisions import Answer, CloseMessage
from policies.contract.errors import DependencyError
from policies.contract.restraints import ApproveMessage, VerdictMessage
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.notes import Ask
from policies.coordination.snapshot import Change, Snapshot
from policies.coordination.states import IncidentStatus
from tests.tools.incidents import CLUSTER, JOB, RULES, START, at, finding, findings
from tests.tools.tables import create_tables


@dataclass(frozen=True)
class World:
    incidents: Incidents
    store: CoordinationStore

    def put(
        self, node: str, *, closed: bool = False, changed: float = 0, seen: float = 0, job: bool = True
    ) -> Incident:
        message = findings(finding(node, name=f"{node}-{seen}", job=JOB if job else None, seen=at(seen)))
        opened = decide(Snapshot(CLUSTER), [message], at(seen), rules=RULES).incidents[0].after
        status = IncidentStatus.CLOSED if closed else IncidentStatus.SETTLING
        incident = opened.model_copy(update={"status": status, "updated_at": at(changed)})
        self.store.write(Change(None, incident))
        return incident


@pytest.fixture(params=["twin", "dynamodb"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "twin":
        store = MemoryStore()
        yield World(MemoryIncidents(store), store)
        return
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        real = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        yield World(DynamoIncidents(client, "incidents"), real)


def test_open_and_closed_are_listed_last_changed_first(world: World) -> None:
    first, second = world.put("i-1", changed=1), world.put("i-2", changed=2)
    old, new = world.put("i-3", closed=True, changed=3), world.put("i-4", closed=True, changed=900)
    assert world.incidents.open(CLUSTER) == [second, first]
    assert world.incidents.closed(CLUSTER, START) == [new, old]
    assert world.incidents.closed(CLUSTER, START + timedelta(seconds=3)) == [new]
    assert world.incidents.open("elsewhere") == []


def test_a_node_and_a_run_have_a_history(world: World) -> None:
    old, new = world.put("i-1", closed=True, seen=0), world.put("i-1", seen=60)
    other = world.put("i-2", seen=30, job=False)
    assert world.incidents.of_node(CLUSTER, "i-1") == [new, old]
    assert world.incidents.of_node(CLUSTER, "i-2") == [other]
    assert world.incidents.of_job(CLUSTER, "train/llm") == [new, old]
    assert world.incidents.of_job(CLUSTER, "other") == []


def test_one_is_loaded_as_it_is_now(world: World) -> None:
    incident = world.put("i-1")
    parked = incident.model_copy(update={"status": IncidentStatus.PARKED, "version": 2})
    world.store.write(Change(incident, parked))
    assert world.incidents.load(incident.id) == parked
    assert world.incidents.load("0" * 32) is None


def test_more_than_a_page_of_the_index(world: World) -> None:
    big = "x" * 40_000  # a page of a query ends at 1 MB
    for number in range(40):
        incident = world.put(f"i-{number:02d}")
        world.store.write(Change(incident, incident.model_copy(update={"messages": (big,), "version": 2})))
    assert len(world.incidents.open(CLUSTER)) == 40


def test_no_task_token_is_read_and_what_cannot_be_read_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        world = World(
            DynamoIncidents(client, "incidents"),
            DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents"),
        )
        incident = world.put("i-1")
        answer = Answer(verdict="wait", incident=incident.id, attempt=1, step=1)
        asked = {"ask": Ask(attempt=1, step=0, answer=answer, token="secret"), "version": 2}
        world.store.write(Change(incident, incident.model_copy(update=asked)))
        bad = world.put("i-2")
        client.update_item(
            TableName="incidents",
            Key={"pk": {"S": f"INCIDENT#{bad.id}"}, "sk": {"S": "META"}},
            UpdateExpression="SET document = :d",
            ExpressionAttributeValues={":d": {"S": "{"}},
        )
        (read,) = world.incidents.open(CLUSTER)
    assert "secret" not in read.model_dump_json()
    assert "cannot be read" in caplog.text


@pytest.fixture(params=["twin", "sqs"])
def closings(
    request: pytest.FixtureRequest,
) -> Iterator[tuple[Closings, Callable[[], list[CloseMessage | ApproveMessage | VerdictMessage]]]]:
    if request.param == "twin":
        twin = MemoryClosings()
        yield twin, lambda: [message for message, _ in twin.sent]
        return
    with mock_aws():
        client = boto3.client("sqs", region_name="us-east-1")
        url = client.create_queue(QueueName="decisions.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]

        def received() -> list[CloseMessage | ApproveMessage | VerdictMessage]:
            found = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["MessageGroupId"])
            assert {each["Attributes"]["MessageGroupId"] for each in found["Messages"]} == {CLUSTER}
            return [CloseMessage.model_validate(json.loads(each["Body"])) for each in found["Messages"]]

        yield SqsClosings(client, url), received


def test_a_wish_is_sent_as_often_as_it_is_made(
    closings: tuple[Closings, Callable[[], list[CloseMessage | ApproveMessage | VerdictMessage]]],
) -> None:
    port, received = closings
    message = CloseMessage(cluster=CLUSTER, incident="a" * 32, by="kim", reason="board changed")
    port.send(message, at(0))
    port.send(message, at(0))
    port.send(message, at(60))
    assert received() == [message, message]


def test_what_is_not_there_is_an_error_of_ours() -> None:
    with mock_aws():
        with pytest.raises(DependencyError, match="listing incidents"):
            DynamoIncidents(boto3.client("dynamodb", region_name="us-east-1"), "nowhere").open(CLUSTER)
        with pytest.raises(DependencyError, match="sending the close"):
            SqsClosings(
                boto3.client("sqs", region_name="us-east-1"), "https://sqs.us-east-1.amazonaws.com/1/no.fifo"
            ).send(CloseMessage(cluster=CLUSTER, incident="a", by="k", reason="r"), START)
