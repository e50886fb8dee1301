"""Reading calls from the wire: who, which operation, which resources, which IAM actions."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from local.aws.action_names import actions
from local.aws.calls import Call, read_call
from local.aws.principals import access_key
from local.aws.resources import touched

_ACCOUNT = "123456789012"


def _signed(service: str) -> str:
    return f"AWS4-HMAC-SHA256 Credential={access_key('me')}/20260101/us-east-1/{service}/aws4_request, SignedHeaders=x"


def _call(
    service: str, body: Any = b"", *, method: str = "POST", path: str = "/", query: str = "", target: str = ""
) -> Call:
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "RAW_URI": path + (f"?{query}" if query else ""),
        "QUERY_STRING": query,
        "HTTP_AUTHORIZATION": _signed(service),
        "HTTP_HOST": "127.0.0.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "wsgi.url_scheme": "http",
    }
    if target:
        environ["HTTP_X_AMZ_TARGET"] = target
    call = read_call(environ, body if isinstance(body, bytes) else json.dumps(body).encode())
    assert call is not None
    assert call.principal == "me"
    return call


@pytest.mark.parametrize(
    ("call", "expected_actions", "expected_resources"),
    [
        (
            _call("dynamodb", {"TableName": "fleet"}, target="DynamoDB_20120810.PutItem"),
            ("dynamodb:PutItem",),
            (f"arn:aws:dynamodb:us-east-1:{_ACCOUNT}:table/fleet",),
        ),
        (
            _call("dynamodb", {"TableName": "t", "IndexName": "by-job"}, target="DynamoDB_20120810.Query"),
            ("dynamodb:Query",),
            (f"arn:aws:dynamodb:us-east-1:{_ACCOUNT}:table/t/index/by-job",),
        ),
        (
            _call(
                "dynamodb",
                {"TransactItems": [{"Put": {"TableName": "a"}}, {"ConditionCheck": {"TableName": "b"}}]},
                target="DynamoDB_20120810.TransactWriteItems",
            ),
            ("dynamodb:ConditionCheckItem", "dynamodb:PutItem"),
            tuple(f"arn:aws:dynamodb:us-east-1:{_ACCOUNT}:table/{name}" for name in "ab"),
        ),
        (
            _call("sqs", {"QueueUrl": "https://sqs/1/q.fifo"}, target="AmazonSQS.SendMessageBatch"),
            ("sqs:SendMessage",),
            (f"arn:aws:sqs:us-east-1:{_ACCOUNT}:q.fifo",),
        ),
        (
            _call("s3", method="GET", path="/bucket/a/b%20c"),
            ("s3:GetObject",),
            ("arn:aws:s3:::bucket/a/b c",),
        ),
        (
            _call("s3", method="GET", path="/bucket", query="list-type=2&prefix=x"),
            ("s3:ListBucket",),
            ("arn:aws:s3:::bucket",),
        ),
        (
            _call("lambda", method="POST", path="/2015-03-31/functions/kubernetes/invocations"),
            ("lambda:InvokeFunction",),
            (f"arn:aws:lambda:us-east-1:{_ACCOUNT}:function:kubernetes",),
        ),
        (
            _call("events", {"Entries": [{"EventBusName": "relight"}, {}]}, target="AWSEvents.PutEvents"),
            ("events:PutEvents",),
            tuple(f"arn:aws:events:us-east-1:{_ACCOUNT}:event-bus/{name}" for name in ("default", "relight")),
        ),
        (
            _call("ec2", urlencode({"Action": "TerminateInstances", "InstanceId.1": "i-0abc"}).encode()),
            ("ec2:TerminateInstances",),
            (f"arn:aws:ec2:us-east-1:{_ACCOUNT}:instance/i-0abc",),
        ),
        (
            _call("ec2", urlencode({"Action": "DescribeInstances", "InstanceId.1": "i-0abc"}).encode()),
            ("ec2:DescribeInstances",),
            ("*",),
        ),
        (
            _call("monitoring", b"\xa1", path="/service/X/operation/PutMetricData"),
            ("cloudwatch:PutMetricData",),
            ("*",),
        ),
        (
            _call(
                "sagemaker",
                {"TrainingJobName": "run", "Tags": [{"Key": "a", "Value": "b"}]},
                target="SageMaker.CreateTrainingJob",
            ),
            ("sagemaker:CreateTrainingJob", "sagemaker:AddTags"),
            (f"arn:aws:sagemaker:us-east-1:{_ACCOUNT}:training-job/run",),
        ),
        (
            _call("sagemaker", {"ResourceArn": "arn:job"}, target="SageMaker.ListTags"),
            ("sagemaker:ListTags",),
            ("arn:job",),
        ),
    ],
)
def test_a_call_is_known_by_its_actions_and_resources(
    call: Call, expected_actions: tuple[str, ...], expected_resources: tuple[str, ...]
) -> None:
    assert actions(call) == expected_actions
    assert touched(call, _ACCOUNT) == expected_resources


def test_an_unsigned_request_is_no_call() -> None:
    assert read_call({"PATH_INFO": "/", "QUERY_STRING": ""}, b"") is None
