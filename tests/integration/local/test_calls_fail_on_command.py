"""Faults on command: calls that fail, and calls that happen while their answer is lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

from local.aws.errors import ControlError
from local.aws.server import EmbeddedAws


@pytest.fixture
def table(aws: EmbeddedAws) -> str:
    name = "faults"
    client = aws.client("dynamodb")
    if name not in client.list_tables()["TableNames"]:
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    return name


@pytest.fixture(autouse=True)
def no_faults_left(aws: EmbeddedAws) -> Iterator[None]:
    yield
    aws.control("clear_faults")


def _once(aws: EmbeddedAws, service: str, principal: str = "once") -> Any:
    """A client that never tries again by itself."""
    environment = aws.environment(principal)
    return boto3.client(
        service,  # type: ignore[call-overload]
        endpoint_url=aws.endpoint,
        region_name=aws.region,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}),
    )


def test_a_call_fails_as_often_as_asked_and_nothing_happens(aws: EmbeddedAws, table: str) -> None:
    client = _once(aws, "dynamodb")
    aws.fail_next("dynamodb", "PutItem", "ProvisionedThroughputExceededException", 2)
    for _ in range(2):
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException):
            client.put_item(TableName=table, Item={"pk": {"S": "refused"}})
    assert "Item" not in client.get_item(TableName=table, Key={"pk": {"S": "refused"}})
    client.put_item(TableName=table, Item={"pk": {"S": "refused"}})
    assert aws.control("pending_faults") == []


def test_a_dropped_answer_leaves_the_effect(aws: EmbeddedAws, table: str) -> None:
    client = _once(aws, "dynamodb")
    aws.drop_answer("dynamodb", "PutItem")
    with pytest.raises(ConnectionClosedError):
        client.put_item(TableName=table, Item={"pk": {"S": "lost"}})
    assert "Item" in client.get_item(TableName=table, Key={"pk": {"S": "lost"}})


def test_a_fault_can_be_meant_for_one_principal(aws: EmbeddedAws, table: str) -> None:
    aws.fail_next("dynamodb", "GetItem", "InternalServerError", principal="triage")
    key = {"pk": {"S": "x"}}
    _once(aws, "dynamodb", "other").get_item(TableName=table, Key=key)
    with pytest.raises(ClientError) as caught:
        _once(aws, "dynamodb", "triage").get_item(TableName=table, Key=key)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500


@pytest.mark.parametrize(
    ("service", "prefix", "operation", "method", "code"),
    [
        ("sqs", "sqs", "ListQueues", "list_queues", "RequestThrottled"),
        ("ec2", "ec2", "DescribeInstances", "describe_instances", "RequestLimitExceeded"),
        ("autoscaling", "autoscaling", "DescribeAutoScalingGroups", "describe_auto_scaling_groups", "Throttling"),
        ("s3", "s3", "ListBuckets", "list_buckets", "SlowDown"),
        ("stepfunctions", "states", "ListStateMachines", "list_state_machines", "ThrottlingException"),
        ("kinesis", "kinesis", "ListStreams", "list_streams", "LimitExceededException"),
        ("lambda", "lambda", "ListFunctions", "list_functions", "TooManyRequestsException"),
    ],
)
def test_each_protocol_words_the_error_so_that_boto_reads_it(
    aws: EmbeddedAws, service: str, prefix: str, operation: str, method: str, code: str
) -> None:
    aws.fail_next(prefix, operation, code)
    with pytest.raises(ClientError) as caught:
        getattr(_once(aws, service), method)()
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["Error"]["Message"] == "failed on purpose"


def test_an_unknown_control_action_says_which_there_are(aws: EmbeddedAws) -> None:
    with pytest.raises(ControlError, match="set_eks_endpoint"):
        aws.control("no_such_thing")


@pytest.mark.parametrize(("when", "is_done"), [("before", False), ("after", True)])
def test_the_caller_dies_before_or_after_its_effect(aws: EmbeddedAws, table: str, when: Any, is_done: bool) -> None:
    key = {"pk": {"S": f"killed-{when}"}}
    aws.kill_caller_next("dynamodb", "PutItem", when, principal="victim", containing=f"killed-{when}")
    script = f"import boto3; boto3.client('dynamodb').put_item(TableName={table!r}, Item={key!r}); print('lived')"
    environment = {"PATH": os.environ["PATH"], **aws.environment("victim")}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (-signal.SIGKILL, b"")
    assert ("Item" in aws.client("dynamodb").get_item(TableName=table, Key=key)) is is_done
    assert aws.pending_faults() == []


def test_only_the_record_that_is_meant_loses_its_answer(aws: EmbeddedAws) -> None:
    client = _once(aws, "kinesis")
    client.create_stream(StreamName="picky", ShardCount=1)
    aws.drop_answer("kinesis", "PutRecord", containing="gpu.xid")
    client.put_record(StreamName="picky", Data=b"heartbeat", PartitionKey="a")
    with pytest.raises(ConnectionClosedError):
        client.put_record(StreamName="picky", Data=b'{"kind": "gpu.xid"}', PartitionKey="a")


def test_a_test_never_kills_itself(aws: EmbeddedAws, table: str) -> None:
    aws.kill_caller_next("dynamodb", "PutItem", principal="once")
    with pytest.raises(ClientError, match="not one that a test may kill"):
        _once(aws, "dynamodb").put_item(TableName=table, Item={"pk": {"S": "x"}})
