"""EventBridge: patterns, inputs, every target, retries, dead letters, schedules and AWS's own events."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from local.aws.errors import DeployError
from tests.integration.local.stacks import Resources, Stack, arn, eventually, function, received, role

Launched = Callable[[Resources], Stack]


def _rule(*targets: Mapping[str, Any], pattern: Any = None, bus: Any = None, **more: Any) -> dict[str, Any]:
    properties: dict[str, Any] = {"Targets": [{"Id": str(index), **target} for index, target in enumerate(targets)]}
    if pattern is not None:
        properties["EventPattern"] = pattern
    if bus is not None:
        properties["EventBusName"] = bus
    return {"Type": "AWS::Events::Rule", "Properties": {**properties, **more}}


def _queue(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SQS::Queue", "Properties": properties}


_BUS = {"Type": "AWS::Events::EventBus", "Properties": {"Name": {"Ref": "AWS::StackName"}}}
_ON_BUS = {"Ref": "Bus"}
_OURS = {"source": ["relight"]}


def _put(stack: Stack, detail: dict[str, Any], source: str = "relight", bus: str | None = None) -> dict[str, Any]:
    entry = {"Source": source, "DetailType": "Incident", "Detail": json.dumps(detail)}
    name = bus or stack.outputs.get("Bus", "default")
    answer: dict[str, Any] = stack.client("events").put_events(Entries=[{**entry, "EventBusName": name}])
    return answer


def _receive(stack: Stack, queue: str = "Queue") -> list[dict[str, Any]]:
    return received(stack, queue, MessageAttributeNames=["All"], MessageSystemAttributeNames=["All"])


def _bodies(stack: Stack, queue: str = "Queue") -> list[Any]:
    return [json.loads(message["Body"]) for message in _receive(stack, queue)]


def test_a_matching_event_reaches_its_queue_as_aws_shapes_it(launched: Launched) -> None:
    stack = launched({"Bus": _BUS, "Queue": _queue(), "Rule": _rule({"Arn": arn("Queue")}, pattern=_OURS, bus=_ON_BUS)})
    _put(stack, {"state": "closed"}, source="other")
    identifier = _put(stack, {"state": "open"})["Entries"][0]["EventId"]
    (event,) = _bodies(stack)
    assert event["id"] == identifier
    assert event["detail"] == {"state": "open"}
    assert event["detail-type"] == "Incident"
    assert event["account"] == "123456789012"
    assert time.strptime(event["time"], "%Y-%m-%dT%H:%M:%SZ")
    assert "ingestion-time" not in event


def test_a_fifo_target_gets_its_group(launched: Launched) -> None:
    target = {"Arn": arn("Queue"), "SqsParameters": {"MessageGroupId": "alerts"}}
    queue = _queue(FifoQueue=True, ContentBasedDeduplication=True)
    stack = launched({"Bus": _BUS, "Queue": queue, "Rule": _rule(target, pattern=_OURS, bus=_ON_BUS)})
    _put(stack, {"a": 1})
    assert _receive(stack)[0]["Attributes"]["MessageGroupId"] == "alerts"


def test_inputs_are_constants_parts_or_templates(launched: Launched) -> None:
    transformer = {
        "InputPathsMap": {"node": "$.detail.node", "ids": "$.detail.ids"},
        "InputTemplate": '{"node": <node>, "text": "node <node> of <aws.events.rule-name>", "ids": <ids>}',
    }
    targets: list[dict[str, Any]] = [
        {"Arn": arn("Constant"), "Input": '{"fixed": true}'},
        {"Arn": arn("Part"), "InputPath": "$.detail"},
        {"Arn": arn("Template"), "InputTransformer": transformer},
    ]
    queues = {name: _queue() for name in ("Constant", "Part", "Template")}
    stack = launched({"Bus": _BUS, **queues, "Rule": _rule(*targets, pattern=_OURS, bus=_ON_BUS)})
    _put(stack, {"node": "gpu-1", "ids": [1, 2]})
    assert _bodies(stack, "Constant") == [{"fixed": True}]
    assert _bodies(stack, "Part") == [{"node": "gpu-1", "ids": [1, 2]}]
    (filled,) = _bodies(stack, "Template")
    assert filled["node"] == "gpu-1"
    assert filled["ids"] == [1, 2]
    assert filled["text"] == f"node gpu-1 of {stack.outputs['Rule']}"


def test_functions_machines_streams_topics_and_buses_are_targets(launched: Launched, out: Path) -> None:
    machine = {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {
            "Definition": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}},
            "RoleArn": arn("Role"),
        },
    }
    targets: list[dict[str, Any]] = [
        {"Arn": arn("Function")},
        {"Arn": {"Ref": "Machine"}, "RoleArn": arn("Role")},
        {"Arn": arn("Stream"), "KinesisParameters": {"PartitionKeyPath": "$.detail.node"}, "RoleArn": arn("Role")},
        {"Arn": {"Ref": "Topic"}},
        {"Arn": arn("Other"), "RoleArn": arn("Role")},
    ]
    other = {"Type": "AWS::Events::EventBus", "Properties": {"Name": {"Fn::Sub": "${AWS::StackName}-other"}}}
    resources = {
        "Role": role(service="events"),
        "Function": function("sink.event", out),
        "Machine": machine,
        "Stream": {"Type": "AWS::Kinesis::Stream", "Properties": {"ShardCount": 1}},
        "Topic": {"Type": "AWS::SNS::Topic"},
        "Other": other,
        "Queue": _queue(),
        "OtherRule": _rule({"Arn": arn("Queue")}, pattern=_OURS, bus={"Ref": "Other"}),
        "Bus": _BUS,
        "Rule": _rule(*targets, pattern=_OURS, bus=_ON_BUS),
    }
    stack = launched(resources)
    _put(stack, {"node": "gpu-1"})
    assert eventually(stack.notes)[0]["event"]["detail"] == {"node": "gpu-1"}
    states = stack.client("stepfunctions")
    eventually(lambda: states.list_executions(stateMachineArn=stack.outputs["Machine"])["executions"])
    assert _stream_keys(stack) == ["gpu-1"]
    assert (
        json.loads(eventually(lambda: stack.aws.published(stack.outputs["Topic"]))[0]["Message"])["source"] == "relight"
    )
    assert _bodies(stack)[0]["detail"] == {"node": "gpu-1"}


def _stream_keys(stack: Stack) -> list[str]:
    client = stack.client("kinesis")
    where = {"StreamName": stack.outputs["Stream"], "ShardId": "shardId-000000000000"}
    iterator = client.get_shard_iterator(**where, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    records = eventually(lambda: client.get_records(ShardIterator=iterator)["Records"])
    return [record["PartitionKey"] for record in records]


def test_a_target_that_does_not_exist_dead_letters_at_once(launched: Launched) -> None:
    missing = {"Fn::Sub": "arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:nowhere"}
    target = {"Arn": missing, "DeadLetterConfig": {"Arn": arn("Dead")}}
    stack = launched({"Bus": _BUS, "Dead": _queue(), "Rule": _rule(target, pattern=_OURS, bus=_ON_BUS)})
    _put(stack, {"a": 1})
    (message,) = _receive(stack, "Dead")
    attributes = {name: value["StringValue"] for name, value in message["MessageAttributes"].items()}
    assert json.loads(message["Body"])["detail"] == {"a": 1}
    assert attributes["TARGET_ARN"].endswith(":nowhere")
    assert attributes["RETRY_ATTEMPTS"] == "0"


def test_a_target_that_fails_is_tried_again_and_then_dead_lettered(launched: Launched) -> None:
    machine = {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {
            "Definition": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}},
            "RoleArn": arn("Role"),
        },
    }
    target = {
        "Arn": {"Ref": "Machine"},
        "RoleArn": arn("Role"),
        "RetryPolicy": {"MaximumRetryAttempts": 2},
        "DeadLetterConfig": {"Arn": arn("Dead")},
    }
    stack = launched(
        {
            "Role": role(service="events"),
            "Machine": machine,
            "Bus": _BUS,
            "Dead": _queue(),
            "Rule": _rule(target, pattern=_OURS, bus=_ON_BUS),
        }
    )
    principal = stack.outputs["Role"]
    stack.aws.fail_next("states", "StartExecution", "ThrottlingException", 1, principal=principal)
    _put(stack, {"a": "through"})
    states = stack.client("stepfunctions")
    eventually(lambda: states.list_executions(stateMachineArn=stack.outputs["Machine"])["executions"])
    stack.aws.fail_next("states", "StartExecution", "ThrottlingException", 3, principal=principal)
    _put(stack, {"a": "dead"})
    (message,) = _receive(stack, "Dead")
    assert json.loads(message["Body"])["detail"] == {"a": "dead"}
    assert message["MessageAttributes"]["EXHAUSTED_RETRY_CONDITION"]["StringValue"] == "MaximumRetryAttempts"


def test_schedules_fire_in_scaled_time(launched: Launched) -> None:
    rate = _rule({"Arn": arn("Queue")}, ScheduleExpression="rate(1 minute)")
    cron = _rule({"Arn": arn("Other"), "Input": '{"cron": 1}'}, ScheduleExpression="cron(* * * * ? *)")
    stack = launched({"Queue": _queue(), "Other": _queue(), "Rate": rate, "Cron": cron})
    (event,) = _bodies(stack)[:1]
    assert event["detail-type"] == "Scheduled Event"
    assert event["source"] == "aws.events"
    assert event["resources"][0].endswith(f"rule/{stack.outputs['Rate']}")
    assert _bodies(stack, "Other")[0] == {"cron": 1}
    for name in ("Rate", "Cron"):
        stack.client("events").disable_rule(Name=stack.outputs[name])


def test_aws_itself_may_say_what_nobody_else_may(launched: Launched) -> None:
    pattern = {"source": ["aws.ec2"], "detail": {"instance-id": ["i-0abc"]}}
    stack = launched({"Queue": _queue(), "Rule": _rule({"Arn": arn("Queue")}, pattern=pattern)})
    answer = _put(stack, {"instance-id": "i-0abc"}, source="aws.ec2", bus="default")
    assert answer["Entries"][0]["ErrorCode"] == "NotAuthorizedForSourceException"
    stack.aws.emit_service_event(
        "aws.ec2",
        "EC2 Instance State-change Notification",
        {"instance-id": "i-0abc", "state": "stopped"},
        ["arn:aws:ec2:us-east-1:123456789012:instance/i-0abc"],
    )
    (event,) = _bodies(stack)
    assert event["detail"]["state"] == "stopped"
    assert event["resources"] == ["arn:aws:ec2:us-east-1:123456789012:instance/i-0abc"]


def test_new_objects_of_a_bucket_are_announced(launched: Launched) -> None:
    bucket = {
        "Type": "AWS::S3::Bucket",
        "Properties": {"NotificationConfiguration": {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}},
    }
    pattern = {
        "source": ["aws.s3"],
        "detail-type": ["Object Created"],
        "detail": {"bucket": {"name": [{"Ref": "Bucket"}]}},
    }
    stack = launched({"Bucket": bucket, "Queue": _queue(), "Rule": _rule({"Arn": arn("Queue")}, pattern=pattern)})
    stack.client("s3").put_object(Bucket=stack.outputs["Bucket"], Key="rejects/1.json", Body=b"{}")
    (event,) = _bodies(stack)
    assert event["detail"]["object"]["key"] == "rejects/1.json"


def test_an_archive_keeps_what_matches(launched: Launched) -> None:
    archive = {"Type": "AWS::Events::Archive", "Properties": {"SourceArn": arn("Bus"), "EventPattern": _OURS}}
    stack = launched({"Bus": _BUS, "Archive": archive})
    _put(stack, {"a": 1})
    _put(stack, {"a": 1}, source="other")
    archives = stack.client("events").list_archives(
        EventSourceArn=f"arn:aws:events:us-east-1:123456789012:event-bus/{stack.outputs['Bus']}"
    )
    assert [found["EventCount"] for found in archives["Archives"]] == [1]


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"EventPattern": {"source": [{"sounds-like": "x"}]}}, "no operator"),
        ({"ScheduleExpression": "cron(0 12 L * ? *)"}, "not represented"),
        ({"EventPattern": _OURS, "Targets": [{"Id": "1", "Arn": "arn:aws:batch:us-east-1:1:job-queue/x"}]}, "batch"),
    ],
)
def test_a_rule_that_would_not_work_is_refused(launched: Launched, properties: dict[str, Any], reason: str) -> None:
    with pytest.raises(DeployError, match=reason):
        launched({"Rule": {"Type": "AWS::Events::Rule", "Properties": properties}})
