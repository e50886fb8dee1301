"""What stack, stream, dropped batches, marks and targets do: the twins and AWS (on moto)."""

import base64
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from console.dlq.adapters.dropped import S3DroppedBatches, read
from console.dlq.adapters.lanes import AwsTargets, KinesisStream
from console.dlq.adapters.redrives import DynamoRedrives
from console.dlq.adapters.stacks import CloudFormationStacks
from console.dlq.model import DlqError, Stack
from console.dlq.ports import DroppedBatches, Redrives, Stacks, Stream
from console.dlq.twins import MemoryDroppedBatches, MemoryRedrives, MemoryStacks, MemoryStream
from policies.contract.errors import RelightError
from tests.tools.tables import create_tables

AT = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
KEY = "aws/lambda/1f0b/shardId-000000000000/2026/03/01/2026-03-01T03.00.00-8a6f"
REGION = "us-east-1"


@pytest.fixture(autouse=True)
def moto() -> Iterator[None]:
    with mock_aws():
        yield


def batch_document(**changes: object) -> bytes:
    """Return an object as Lambda writes it (developer guide, "Retain discarded records in S3"), shortened."""
    kinesis = {"partitionKey": "i-1", "sequenceNumber": "7", "data": base64.b64encode(b"{}").decode()}
    document = {
        "requestContext": {
            "functionArn": "arn:aws:lambda:us-east-1:123456789012:function:triage",
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 4,
        },
        "KinesisBatchInfo": {"streamArn": "arn:aws:kinesis:us-east-1:123456789012:stream/faults", "batchSize": 1},
        "payload": json.dumps({"Records": [{"kinesis": kinesis}]}),
    }
    return json.dumps({**document, **changes}).encode()


@pytest.fixture(params=["twin", "aws"])
def stacks(request: pytest.FixtureRequest) -> Stacks:
    client = boto3.client("cloudformation", region_name=REGION)
    template = {
        "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}, "Bucket": {"Type": "AWS::S3::Bucket"}},
        "Outputs": {"DecisionsQueueUrl": {"Value": {"Ref": "Queue"}}},
    }
    client.create_stack(StackName="Relight", TemplateBody=json.dumps(template))
    real = CloudFormationStacks(client)
    if request.param == "aws":
        return real
    return MemoryStacks({"Relight": Stack("Relight", {"DecisionsQueueUrl": "https://q"}, ["https://q"])})


def test_a_stack_has_outputs_and_queues_and_nothing_else(stacks: Stacks) -> None:
    stack = stacks.find("Relight")
    assert [stack.output("DecisionsQueueUrl")] == list(stack.queue_urls)
    with pytest.raises(DlqError, match="no output FleetTable"):
        stack.output("FleetTable")


def test_a_stack_that_is_not_there_is_named_with_what_to_do(stacks: Stacks) -> None:
    with pytest.raises(DlqError, match=r"no stack 'Other'.*--stack"):
        stacks.find("Other")


@pytest.fixture(params=["twin", "aws"])
def stream(request: pytest.FixtureRequest) -> tuple[Stream, Callable[[], list[tuple[str, bytes]]]]:
    if request.param == "twin":
        twin = MemoryStream()
        return twin, lambda: twin.records
    client = boto3.client("kinesis", region_name=REGION)
    client.create_stream(StreamName="faults", ShardCount=1)

    def records() -> list[tuple[str, bytes]]:
        shard = client.list_shards(StreamName="faults")["Shards"][0]["ShardId"]
        iterator = client.get_shard_iterator(StreamName="faults", ShardId=shard, ShardIteratorType="TRIM_HORIZON")[
            "ShardIterator"
        ]
        found = client.get_records(ShardIterator=iterator)["Records"]
        return [(record["PartitionKey"], record["Data"]) for record in found]

    return KinesisStream(client, "faults"), records


def test_records_keep_their_bytes_keys_and_order(
    stream: tuple[Stream, Callable[[], list[tuple[str, bytes]]]],
) -> None:
    port, records = stream
    first = port.put("i-1", b"\xff1")
    second = port.put("i-1", b"2", after=first)
    assert int(second) > int(first)
    assert records() == [("i-1", b"\xff1"), ("i-1", b"2")]


def test_a_stream_that_is_not_there_is_an_error_of_ours() -> None:
    with pytest.raises(RelightError, match="putting a record"):
        KinesisStream(boto3.client("kinesis", region_name=REGION), "nowhere").put("k", b"")


@pytest.fixture(params=["twin", "aws"])
def dropped(request: pytest.FixtureRequest) -> DroppedBatches:
    if request.param == "twin":
        return MemoryDroppedBatches({KEY: (AT, read(KEY, batch_document()))})
    client = boto3.client("s3", region_name=REGION)
    client.create_bucket(Bucket="rejects")
    client.put_object(Bucket="rejects", Key=KEY, Body=batch_document())
    client.put_object(Bucket="rejects", Key="rejects/2026-03-01/abc", Body=b"a payload of triage's own")
    return S3DroppedBatches(client, "rejects")


def test_a_batch_that_was_given_up_is_listed_and_read(dropped: DroppedBatches) -> None:
    assert [one.key for one in dropped.list()] == [KEY]
    batch = dropped.load(KEY)
    assert (batch.condition, batch.tries, batch.is_table) == ("RetryAttemptsExhausted", 4, False)
    assert [(record.key, record.data, record.sequence) for record in batch.records] == [("i-1", b"{}", "7")]


def test_a_batch_that_is_not_there_says_how_to_find_one(dropped: DroppedBatches) -> None:
    with pytest.raises(DlqError, match="show failures"):
        dropped.load("aws/lambda/other")


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", batch_document(payload="no json"), batch_document(payload="{}")])
def test_what_no_mapping_wrote_is_an_error_and_no_crash(body: bytes) -> None:
    client = boto3.client("s3", region_name=REGION)
    client.create_bucket(Bucket="rejects")
    client.put_object(Bucket="rejects", Key=KEY, Body=body)
    with pytest.raises(DlqError, match="not what a mapping leaves"):
        S3DroppedBatches(client, "rejects").load(KEY)


def test_a_batch_of_a_tables_changes_has_no_records_of_kinesis() -> None:
    info = {"streamArn": "arn:aws:dynamodb:us-east-1:123456789012:table/T/stream/2026-03-01T00:00:00.000"}
    document = json.loads(batch_document(DDBStreamBatchInfo=info, payload='{"Records": [{"dynamodb": {}}]}'))
    del document["KinesisBatchInfo"]
    batch = read(KEY, json.dumps(document).encode())
    assert batch.is_table
    assert not batch.records
    assert batch.event == {"Records": [{"dynamodb": {}}]}


@pytest.fixture(params=["twin", "aws"])
def redrives(request: pytest.FixtureRequest) -> Redrives:
    if request.param == "twin":
        return MemoryRedrives()
    client = boto3.client("dynamodb", region_name=REGION)
    create_tables(client)
    return DynamoRedrives(client, "fleet")


def test_a_mark_is_found_again_and_moves_with_a_second_redrive(redrives: Redrives) -> None:
    redrives.mark("a", AT)
    redrives.mark("a", AT + timedelta(minutes=1))
    assert redrives.times(["a", "b"]) == {"a": AT + timedelta(minutes=1)}
    assert redrives.times([]) == {}


def test_marks_of_more_than_one_call_are_all_found(redrives: Redrives) -> None:
    ids = [f"id-{number}" for number in range(130)]
    for each in ids:
        redrives.mark(each, AT)
    assert set(redrives.times([*ids, "other"])) == set(ids)


def test_an_undelivered_event_reaches_its_queue_or_topic() -> None:
    sqs, sns = boto3.client("sqs", region_name=REGION), boto3.client("sns", region_name=REGION)
    url = sqs.create_queue(QueueName="events")["QueueUrl"]
    arn = "arn:aws:sqs:us-east-1:123456789012:events"
    topic = sns.create_topic(Name="alerts")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    targets = AwsTargets(sqs, sns, boto3.client("lambda", region_name=REGION))
    targets.deliver(arn, "one")
    targets.deliver(topic, "two")
    bodies = [message["Body"] for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]]
    assert bodies[0] == "one"
    assert json.loads(bodies[1])["Message"] == "two"
    with pytest.raises(DlqError, match="no queue, topic or function"):
        targets.deliver("arn:aws:states:us-east-1:123456789012:stateMachine:x", "three")
