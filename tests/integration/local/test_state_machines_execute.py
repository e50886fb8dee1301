"""Step Functions: states, tasks, waits and retries, as handle-incident relies on them."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.local.machines import DONE, invoke, machine, message, output, world
from tests.integration.local.stacks import Resources, Stack, arn, role

Launched = Callable[[Resources], Stack]


def test_choices_passes_and_parallel_branches(launched: Launched, out: Path) -> None:
    branches = [
        {"StartAt": name, "States": {name: {"Type": "Pass", "Result": name, "End": True}}} for name in ("left", "right")
    ]
    states = {
        "Choose": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.verdict", "StringEquals": "act", "Next": "Both"}],
            "Default": "Nothing",
        },
        "Both": {"Type": "Parallel", "Branches": branches, "ResultPath": "$.sides", "Next": "Done"},
        "Nothing": {"Type": "Pass", "Result": {"sides": []}, "Next": "Done"},
        "Done": DONE,
    }
    stack = launched(world(out, machine(states, "Choose")))
    assert output(stack, {"verdict": "act"}) == {"verdict": "act", "sides": ["left", "right"]}
    assert output(stack, {"verdict": "wait"}) == {"sides": []}


def test_a_map_keeps_the_order_of_its_items(launched: Launched, out: Path) -> None:
    item = {"StartAt": "Call", "States": {"Call": invoke(OutputPath="$.event.node", End=True)}}
    states = {"Each": {"Type": "Map", "ItemsPath": "$.nodes", "ItemProcessor": item, "End": True}}
    stack = launched(world(out, machine(states, "Each")))
    assert output(stack, {"nodes": [{"node": name} for name in "abc"]}) == ["a", "b", "c"]


def test_a_lambda_task_passes_its_payload_and_is_made_under_the_machines_role(launched: Launched, out: Path) -> None:
    stack = launched(world(out, machine({"Call": invoke(End=True)}, "Call")))
    assert output(stack, {"rung": "isolate"}) == {"event": {"rung": "isolate"}}
    calls = stack.aws.recorded_calls()
    assert any(
        call.action == "lambda:InvokeFunction" and call.principal == stack.outputs["MachineRole"] for call in calls
    )


def test_waits_pass_in_scaled_time(launched: Launched, out: Path) -> None:
    states = {
        "Fixed": {"Type": "Wait", "Seconds": 30, "Next": "Path"},
        "Path": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "Until"},
        "Until": {"Type": "Wait", "TimestampPath": "$.until", "End": True},
    }
    stack = launched(world(out, machine(states, "Fixed")))
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30))
    started = time.monotonic()
    output(stack, {"seconds": 30, "until": until})
    assert 0.75 < time.monotonic() - started < 60  # 90 s at a hundredth


def test_a_retry_backs_off_and_then_goes_through(launched: Launched, out: Path) -> None:
    retry = [{"ErrorEquals": ["States.TaskFailed"], "IntervalSeconds": 10, "BackoffRate": 2, "MaxAttempts": 2}]
    catch = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}]
    states = {"Call": invoke(Retry=retry, Catch=catch, End=True), "Caught": {"Type": "Pass", "End": True}}
    stack = launched(world(out, machine(states, "Call")))
    found = output(stack, {"raise": "broken"})
    assert found["error"]["Error"] == "ValueError"
    assert json.loads(found["error"]["Cause"])["errorMessage"] == "broken"
    times = [note["at"] for note in stack.notes()]
    assert len(times) == 3
    assert times[1] - times[0] >= 0.1
    assert times[2] - times[1] >= 0.2


def test_service_tasks_read_write_publish_and_put_events(launched: Launched, out: Path) -> None:
    states = {
        "Put": {
            "Type": "Task",
            "Resource": "arn:aws:states:::dynamodb:putItem",
            "Parameters": {"TableName": "${Table}", "Item": {"id": {"S.$": "$.id"}}},
            "ResultPath": None,
            "Next": "Get",
        },
        "Get": {
            "Type": "Task",
            "Resource": "arn:aws:states:::dynamodb:getItem",
            "Parameters": {"TableName": "${Table}", "Key": {"id": {"S.$": "$.id"}}},
            "ResultSelector": {"id.$": "$.Item.id.S"},
            "Next": "Publish",
        },
        "Publish": {
            "Type": "Task",
            "Resource": "arn:aws:states:::sns:publish",
            "Parameters": {"TopicArn": "${Topic}", "Message.$": "$.id"},
            "ResultPath": None,
            "Next": "Events",
        },
        "Events": {
            "Type": "Task",
            "Resource": "arn:aws:states:::events:putEvents",
            "Parameters": {"Entries": [{"Source": "test", "DetailType": "d", "Detail": {"id.$": "$.id"}}]},
            "ResultPath": None,
            "Next": "Send",
        },
        "Send": {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage",
            "Parameters": {"QueueUrl": "${Queue}", "MessageBody.$": "$"},
            "ResultPath": None,
            "End": True,
        },
    }
    stack = launched(world(out, machine(states, "Put")))
    assert output(stack, {"id": "x"}) == {"id": "x"}
    assert message(stack) == {"id": "x"}


def test_sdk_tasks_answer_in_json_and_their_errors_can_be_caught(launched: Launched, out: Path) -> None:
    catch = [{"ErrorEquals": ["Ec2.Ec2Exception"], "ResultPath": "$.error", "Next": "Caught"}]
    states = {
        "Table": {
            "Type": "Task",
            "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeTable",
            "Parameters": {"TableName": "${Table}"},
            "ResultPath": "$.table",
            "Next": "Missing",
        },
        "Missing": {
            "Type": "Task",
            "Resource": "arn:aws:states:::aws-sdk:ec2:describeInstances",
            "Parameters": {"InstanceIds": ["i-00000000000000000"]},
            "Catch": catch,
            "End": True,
        },
        "Caught": {"Type": "Pass", "End": True},
    }
    stack = launched(world(out, machine(states, "Table")))
    found = output(stack)
    assert "T" in found["table"]["Table"]["CreationDateTime"]
    assert found["error"]["Error"] == "Ec2.Ec2Exception"


def test_a_definition_from_s3_is_read_and_filled_in(launched: Launched, out: Path) -> None:
    stack = launched({"Bucket": {"Type": "AWS::S3::Bucket"}})
    definition = {"StartAt": "P", "States": {"P": {"Type": "Pass", "Result": "${Word}", "End": True}}}
    stack.client("s3").put_object(Bucket=stack.outputs["Bucket"], Key="asl.json", Body=json.dumps(definition))
    properties = {
        "DefinitionS3Location": {"Bucket": stack.outputs["Bucket"], "Key": "asl.json"},
        "DefinitionSubstitutions": {"Word": "filled"},
        "RoleArn": arn("MachineRole"),
    }
    from_s3 = {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}
    assert output(launched({"MachineRole": role(service="states"), "Machine": from_s3})) == "filled"


def test_a_placeholder_without_a_value_fails_the_deployment(launched: Launched, out: Path) -> None:
    unfinished = machine({"P": {"Type": "Pass", "Result": "${Nothing}", "End": True}}, "P")
    with pytest.raises(Exception, match="no value for Nothing"):
        launched(world(out, unfinished))
