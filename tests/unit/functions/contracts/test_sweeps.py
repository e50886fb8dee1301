"""What the sweep's way to coordinate does: the twin and SQS (on moto)."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.sqs_sweeps import SqsSweeps
from functions.ports.sweeps import Sweeps
from functions.twins.sweeps import MemorySweeps
from policies.contract.decisions import SweepMessage, parse_message
from policies.contract.errors import DependencyError

NOW = datetime(2026, 3, 1, 12, 0, 7, tzinfo=UTC)
Read = Callable[[], list[tuple[str, str]]]


@pytest.fixture(params=["twin", "sqs"])
def sweeps(request: pytest.FixtureRequest) -> Iterator[tuple[Sweeps, Read]]:
    if request.param == "twin":
        twin = MemorySweeps()
        yield twin, lambda: [(it.cluster, it.to_json()) for it in twin.sent]
        return
    with mock_aws():
        client = boto3.client("sqs", region_name="us-east-1")
        url = client.create_queue(QueueName="decisions.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]

        def read() -> list[tuple[str, str]]:
            answer = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["MessageGroupId"])
            return [(it["Attributes"]["MessageGroupId"], it["Body"]) for it in answer.get("Messages", [])]

        yield SqsSweeps(client, url), read


def test_a_sweep_arrives_in_the_group_of_its_cluster(sweeps: tuple[Sweeps, Read]) -> None:
    send, read = sweeps
    message = SweepMessage(cluster="a", at=NOW)
    send.send(message)
    [(group, body)] = read()
    assert group == "a"
    assert parse_message(body) == message
    assert json.loads(body)["type"] == "sweep"


def test_twice_in_a_minute_is_once(sweeps: tuple[Sweeps, Read]) -> None:
    send, read = sweeps
    for seconds in (0, 20, 40):
        send.send(SweepMessage(cluster="a", at=NOW + timedelta(seconds=seconds)))
    assert len(read()) == 1


def test_a_queue_that_is_not_there_is_a_failed_dependency() -> None:
    with mock_aws():
        url = "https://sqs.us-east-1.amazonaws.com/123456789012/none.fifo"
        sweeps = SqsSweeps(boto3.client("sqs", region_name="us-east-1"), url)
        with pytest.raises(DependencyError, match="sending the sweep"):
            sweeps.send(SweepMessage(cluster="a", at=NOW))
