"""The sweep's wiring, on moto."""

import json
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from functions.sweep import handler
from tests.tools.tables import create_tables

CLUSTERS = json.dumps([{"name": "a", "orchestrator": "eks", "eks_cluster": "a"}])


@pytest.fixture
def queue_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with mock_aws():
        sqs, kinesis = boto3.client("sqs"), boto3.client("kinesis")
        url = sqs.create_queue(QueueName="decisions.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        kinesis.create_stream(StreamName="faults", ShardCount=1)
        create_tables(boto3.client("dynamodb"))
        environment = {
            "CLUSTERS": CLUSTERS,
            "DECISIONS_QUEUE_URL": url,
            "FAULTS_STREAM": "faults",
            "FLEET_TABLE": "fleet",
            "SILENT_AFTER_SECONDS": "150",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        handler.wired.cache_clear()
        yield url
        handler.wired.cache_clear()


def test_one_invocation_sends_a_sweep_and_a_canary_and_keeps_what_could_be_got(queue_url: str) -> None:
    handler.handle({"source": "aws.events"}, None)
    [message] = boto3.client("sqs").receive_message(QueueUrl=queue_url)["Messages"]
    assert json.loads(message["Body"])["cluster"] == "a"
    kinesis = boto3.client("kinesis")
    shard = kinesis.describe_stream(StreamName="faults")["StreamDescription"]["Shards"][0]["ShardId"]
    place = kinesis.get_shard_iterator(StreamName="faults", ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    [record] = kinesis.get_records(ShardIterator=place["ShardIterator"])["Records"]
    assert json.loads(record["Data"])["node"]["name"] == "relight-canary"
    key = {"pk": {"S": "CLUSTER#a"}, "sk": {"S": "CAPACITY"}}
    kept = boto3.client("dynamodb").get_item(TableName="fleet", Key=key)["Item"]
    assert "no Auto Scaling group" in json.loads(kept["document"]["S"])["unknown"]["spares"]
