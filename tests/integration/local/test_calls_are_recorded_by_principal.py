"""Every call is recorded under who made it, and a role's policies can be held against it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3

from local.aws.iam import allowed, check, roles_of
from local.aws.recorder_types import RecordedCall
from local.aws.server import EmbeddedAws
from tests.integration.local.stacks import Resources, Stack, arn, eventually, function, launch, mapping, role

Launched = Callable[[Resources], Stack]
_TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
}


def _calls(stack: Stack, principal: str, action: str) -> list[RecordedCall]:
    return [call for call in stack.aws.recorded_calls() if (call.principal, call.action) == (principal, action)]


def _client(stack: Stack, service: str, principal: str) -> Any:
    environment = stack.aws.environment(principal)
    return boto3.client(
        service,  # type: ignore[call-overload]
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )


def test_a_function_calls_under_its_role(launched: Launched, out: Path) -> None:
    stack = launched({"Role": role(), "Function": function("sink.event", out), "Table": _TABLE})
    arguments = {"TableName": stack.outputs["Table"], "Key": {"pk": {"S": "NODE#1"}}}
    call = {"service": "dynamodb", "operation": "get_item", "arguments": arguments}
    stack.client("lambda").invoke(FunctionName=stack.outputs["Function"], Payload=json.dumps({"call": call}))
    (recorded,) = _calls(stack, stack.outputs["Role"], "dynamodb:GetItem")
    assert recorded.resources == (f"arn:aws:dynamodb:us-east-1:123456789012:table/{stack.outputs['Table']}",)
    assert recorded.context == (("dynamodb:LeadingKeys", ("NODE#1",)),)


def test_pollers_and_logs_count_under_the_functions_role(launched: Launched, out: Path) -> None:
    stack = launched(
        {
            "Role": role(),
            "Function": function("sink.records", out),
            "Queue": {"Type": "AWS::SQS::Queue"},
            "Mapping": mapping(arn("Queue")),
        }
    )
    for action in ("sqs:ReceiveMessage", "sqs:DeleteMessage", "logs:PutLogEvents"):
        assert _calls(stack, stack.outputs["Role"], action)


def test_a_node_calls_under_its_role_with_its_own_session(launched: Launched) -> None:
    stack = launched({"Stream": {"Type": "AWS::Kinesis::Stream", "Properties": {"ShardCount": 1}}})
    client = _client(stack, "kinesis", "node/i-1")
    client.put_record(StreamName=stack.outputs["Stream"], Data=b"x", PartitionKey="a")
    (recorded,) = _calls(stack, "node", "kinesis:PutRecord")
    assert recorded.resources[0].endswith(f"stream/{stack.outputs['Stream']}")


def test_s3_and_transactions_are_recorded_by_the_rights_they_need(launched: Launched) -> None:
    stack = launched({"Bucket": {"Type": "AWS::S3::Bucket"}, "Table": _TABLE})
    bucket, table = stack.outputs["Bucket"], stack.outputs["Table"]
    s3 = _client(stack, "s3", "reader")
    s3.put_object(Bucket=bucket, Key="a/b.json", Body=b"{}")
    s3.head_object(Bucket=bucket, Key="a/b.json")
    s3.list_objects_v2(Bucket=bucket)
    item = {"TableName": table, "Item": {"pk": {"S": "A#1"}}}
    _client(stack, "dynamodb", "reader").transact_write_items(TransactItems=[{"Put": item}])
    recorded = {call.action: call for call in stack.aws.recorded_calls() if call.principal == "reader"}
    assert recorded["s3:PutObject"].resources == (f"arn:aws:s3:::{bucket}/a/b.json",)
    assert recorded["s3:GetObject"].resources == (f"arn:aws:s3:::{bucket}/a/b.json",)
    assert recorded["s3:ListBucket"].resources == (f"arn:aws:s3:::{bucket}",)
    assert recorded["dynamodb:PutItem"].context == (("dynamodb:LeadingKeys", ("A#1",)),)


def test_a_long_run_of_distinct_objects_stays_small(launched: Launched) -> None:
    stack = launched({"Bucket": {"Type": "AWS::S3::Bucket"}})
    client = _client(stack, "s3", "archivist")
    for number in range(80):
        client.put_object(Bucket=stack.outputs["Bucket"], Key=f"{number}", Body=b"")
    calls = _calls(stack, "archivist", "s3:PutObject")
    assert len(calls) == 64
    assert sum(call.count for call in calls) == 80


def test_a_role_that_lacks_a_right_is_found_and_one_never_used_too(aws: EmbeddedAws, tmp_path: Path, out: Path) -> None:
    logs = {"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*"}
    keys = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["NODE#*"]}}
    table = {"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:Query"], "Resource": arn("Table")}
    resources = {
        "Role": role(logs, {**table, "Condition": keys}),
        "Function": function("sink.event", out),
        "Table": _TABLE,
    }
    stack = launch(aws, tmp_path, resources)
    for key in ("NODE#1", "JOB#1"):
        arguments = {"TableName": stack.outputs["Table"], "Key": {"pk": {"S": key}}}
        call = {"service": "dynamodb", "operation": "get_item", "arguments": arguments}
        stack.client("lambda").invoke(FunctionName=stack.outputs["Function"], Payload=json.dumps({"call": call}))
    eventually(lambda: len(stack.notes()) == 2)
    report = check(aws.recorded_calls(), roles_of(aws, stack.name))
    assert [denied.call.context for denied in report.denied] == [(("dynamodb:LeadingKeys", ("JOB#1",)),)]
    assert [grant.action for grant in report.unused] == ["dynamodb:Query"]


def test_managed_and_separate_policies_of_a_role_are_read_too(aws: EmbeddedAws, tmp_path: Path) -> None:
    managed = role()
    managed["Properties"]["ManagedPolicyArns"] = ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    separate = {
        "Type": "AWS::IAM::Policy",
        "Properties": {
            "PolicyName": "separate",
            "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
            "Roles": [{"Ref": "Role"}],
        },
    }
    stack = launch(aws, tmp_path, {"Role": managed, "Separate": separate})
    policies = roles_of(aws, stack.name)[stack.outputs["Role"]]
    assert allowed(policies, "logs:PutLogEvents", "*")
    assert allowed(policies, "s3:GetObject", "arn:aws:s3:::b/k")
