"""Intake's wiring, on moto."""

import json
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from functions.adapters.telemetry import PowertoolsTelemetry
from functions.intake import handler
from local.aws.patches import instance_topology
from tests.tools.tables import create_tables

CLUSTERS = json.dumps([{"name": "a", "orchestrator": "eks", "eks_cluster": "a"}])


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    instance_topology.apply()  # moto does not know where instances are
    with mock_aws():
        ec2, kinesis, dynamodb = boto3.client("ec2"), boto3.client("kinesis"), boto3.client("dynamodb")
        kinesis.create_stream(StreamName="faults", ShardCount=1)
        create_tables(dynamodb)
        image = ec2.describe_images()["Images"][0]["ImageId"]
        made = ec2.run_instances(
            ImageId=image,
            InstanceType="p5.48xlarge",
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "relight:cluster", "Value": "a"}]}],
        )
        for name, value in {"CLUSTERS": CLUSTERS, "FAULTS_STREAM": "faults", "FLEET_TABLE": "fleet"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Relight")
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "intake")
        monkeypatch.setattr(handler, "TELEMETRY", PowertoolsTelemetry())  # it reads these when made
        handler.wired.cache_clear()
        yield made["Instances"][0]["InstanceId"]
        handler.wired.cache_clear()


def test_a_message_of_the_queue_becomes_a_record_and_a_topology_item(instance: str) -> None:
    event = {
        "id": "e-1",
        "source": "aws.ec2",
        "detail-type": "EC2 Instance State-change Notification",
        "time": "2026-03-01T11:59:58Z",
        "detail": {"instance-id": instance, "state": "stopping"},
    }
    answer = handler.handle({"Records": [{"messageId": "1", "body": json.dumps(event)}]}, None)
    assert answer == {"batchItemFailures": []}
    kinesis = boto3.client("kinesis")
    shard = kinesis.describe_stream(StreamName="faults")["StreamDescription"]["Shards"][0]["ShardId"]
    place = kinesis.get_shard_iterator(StreamName="faults", ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    [record] = kinesis.get_records(ShardIterator=place["ShardIterator"])["Records"]
    assert record["PartitionKey"] == instance
    assert json.loads(record["Data"])["events"][0]["attributes"] == {"state": "stopping"}
    key = {"pk": {"S": "CLUSTER#a"}, "sk": {"S": f"NODE#{instance}#topology"}}
    kept = json.loads(boto3.client("dynamodb").get_item(TableName="fleet", Key=key)["Item"]["identity"]["S"])
    assert tuple(kept["network_path"]) == instance_topology.network_path(instance)
