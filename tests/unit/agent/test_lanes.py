"""One contract for every lane: the twin in memory, Kinesis and SQS."""

from collections.abc import Callable, Iterator

import boto3
import pytest
from moto import mock_aws

from agent.aws import KinesisLane, SqsLane
from agent.lanes import EnvelopeLane, MemoryLane
from policies.contract.errors import DependencyError

REGION = "us-east-1"
Delivered = Callable[[], list[tuple[str, bytes]]]


@pytest.fixture
def memory() -> tuple[EnvelopeLane, Delivered]:
    lane = MemoryLane()
    return lane, lambda: lane.delivered


@pytest.fixture
def aws() -> Iterator[None]:
    with mock_aws():
        yield


@pytest.fixture(params=["name", "arn"])
def kinesis(aws: None, request: pytest.FixtureRequest) -> tuple[EnvelopeLane, Delivered]:
    client = boto3.client("kinesis", region_name=REGION)
    client.create_stream(StreamName="faults", ShardCount=1)
    description = client.describe_stream(StreamName="faults")["StreamDescription"]
    shard = description["Shards"][0]["ShardId"]

    def delivered() -> list[tuple[str, bytes]]:
        start = client.get_shard_iterator(StreamName="faults", ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        records = client.get_records(ShardIterator=start["ShardIterator"])["Records"]
        return [(record["PartitionKey"], record["Data"]) for record in records]

    return KinesisLane("faults" if request.param == "name" else description["StreamARN"], REGION), delivered


@pytest.fixture
def sqs(aws: None) -> tuple[EnvelopeLane, Delivered]:
    client = boto3.client("sqs", region_name=REGION)
    url = client.create_queue(QueueName="overflow")["QueueUrl"]

    def delivered() -> list[tuple[str, bytes]]:
        messages = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [("i-1", message["Body"].encode()) for message in messages]

    return SqsLane(url, REGION), delivered


def check_delivery(lane: EnvelopeLane, delivered: Delivered) -> None:
    lane.put(b'{"a":"\xc3\xa4"}', "i-1")
    lane.put(b"{}", "i-1")
    assert sorted(delivered()) == [("i-1", b'{"a":"\xc3\xa4"}'), ("i-1", b"{}")]


def test_what_was_put_arrives_whole_with_its_key_in_memory(memory: tuple[EnvelopeLane, Delivered]) -> None:
    check_delivery(*memory)


def test_what_was_put_arrives_whole_with_its_key_in_kinesis(kinesis: tuple[EnvelopeLane, Delivered]) -> None:
    check_delivery(*kinesis)


def test_what_was_put_arrives_whole_in_sqs(sqs: tuple[EnvelopeLane, Delivered]) -> None:
    check_delivery(*sqs)


def refusing_memory() -> EnvelopeLane:
    lane = MemoryLane()
    lane.refuses = True
    return lane


@pytest.mark.parametrize(
    "make",
    [
        refusing_memory,
        lambda: KinesisLane("missing", REGION),
        lambda: SqsLane(f"https://sqs.{REGION}.amazonaws.com/123456789012/missing", REGION),
    ],
)
def test_a_refusal_is_a_dependency_error_that_says_what_to_do(aws: None, make: Callable[[], EnvelopeLane]) -> None:
    with pytest.raises(DependencyError) as refused:
        make().put(b"{}", "i-1")
    assert refused.value.hint


@pytest.mark.parametrize(
    "make", [lambda: KinesisLane("faults", REGION), lambda: SqsLane("http://127.0.0.1:1/q", REGION)]
)
def test_an_endpoint_that_is_not_there_is_a_dependency_error(
    make: Callable[[], EnvelopeLane], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(DependencyError, match="not reached"):
        make().put(b"{}", "i-1")


def test_a_check_says_how_the_lane_is(aws: None) -> None:
    boto3.client("kinesis", region_name=REGION).create_stream(StreamName="faults", ShardCount=1)
    url = boto3.client("sqs", region_name=REGION).create_queue(QueueName="overflow")["QueueUrl"]
    assert KinesisLane("faults", REGION).check() == "ACTIVE"
    assert SqsLane(url, REGION).check().endswith(":overflow")
    with pytest.raises(DependencyError, match="ResourceNotFoundException"):
        KinesisLane("missing", REGION).check()
