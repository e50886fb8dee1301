"""Step Functions: states, tasks, waits, retries, task tokens and names, as handle-incident relies on them."""

import contextlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.integration.local.stacks import Resources, Stack, arn, eventually, function, role

Launched = Callable[[Resources], Stack]
_DONE = {"Type": "Succeed"}


def _machine(states: dict[str, Any], start: str, **more: Any) -> dict[str, Any]:
    definition = {"StartAt": start, "States": states, **more}
    return {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {
            "DefinitionString": json.dumps(definition),
            "RoleArn": arn("MachineRole"),
            "DefinitionSubstitutions": {
                "Function": arn("Function"),
                "Queue": {"Ref": "Queue"},
                "Table": {"Ref": "Table"},
                "Topic": {"Ref": "Topic"},
            },
        },
    }


def _world(out: Path, machine: dict[str, Any]) -> dict[str, Any]:
    return {
        "Role": role(),
        "MachineRole": role(service="states"),
        "Function": function("sink.event", out),
        "Queue": {"Type": "AWS::SQS::Queue"},
        "Topic": {"Type": "AWS::SNS::Topic"},
        "Table": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        },
        "Machine": machine,
    }


def _start(stack: Stack, value: Any = None, name: str | None = None) -> str:
    more = {"name": name} if name else {}
    answer = stack.client("stepfunctions").start_execution(
        stateMachineArn=stack.outputs["Machine"], input=json.dumps(value or {}), **more
    )
    return str(answer["executionArn"])


def _ended(stack: Stack, execution: str, within: float = 10) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = stack.client("stepfunctions").describe_execution(executionArn=execution)
        return None if found["status"] == "RUNNING" else found

    ended = eventually(look, within=within)
    assert ended is not None
    return ended


def _output(stack: Stack, value: Any = None) -> Any:
    ended = _ended(stack, _start(stack, value))
    assert ended["status"] == "SUCCEEDED", ended
    return json.loads(ended["output"])


def _message(stack: Stack) -> Any:
    messages = stack.client("sqs").receive_message(QueueUrl=stack.outputs["Queue"], WaitTimeSeconds=10)["Messages"]
    return json.loads(messages[0]["Body"])


def _invoke(**more: Any) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": "${Function}", "Payload.$": "$"},
        "ResultSelector": {"event.$": "$.Payload.event"},
        **more,
    }


def _ask(**more: Any) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"QueueUrl": "${Queue}", "MessageBody": {"token.$": "$$.Task.Token", "input.$": "$"}},
        **more,
    }


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
        "Done": _DONE,
    }
    stack = launched(_world(out, _machine(states, "Choose")))
    assert _output(stack, {"verdict": "act"}) == {"verdict": "act", "sides": ["left", "right"]}
    assert _output(stack, {"verdict": "wait"}) == {"sides": []}


def test_a_map_keeps_the_order_of_its_items(launched: Launched, out: Path) -> None:
    item = {"StartAt": "Call", "States": {"Call": _invoke(OutputPath="$.event.node", End=True)}}
    states = {"Each": {"Type": "Map", "ItemsPath": "$.nodes", "ItemProcessor": item, "End": True}}
    stack = launched(_world(out, _machine(states, "Each")))
    assert _output(stack, {"nodes": [{"node": name} for name in "abc"]}) == ["a", "b", "c"]


def test_a_lambda_task_passes_its_payload_and_is_made_under_the_machines_role(launched: Launched, out: Path) -> None:
    stack = launched(_world(out, _machine({"Call": _invoke(End=True)}, "Call")))
    assert _output(stack, {"rung": "isolate"}) == {"event": {"rung": "isolate"}}
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
    stack = launched(_world(out, _machine(states, "Fixed")))
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30))
    started = time.monotonic()
    _output(stack, {"seconds": 30, "until": until})
    assert 0.75 < time.monotonic() - started < 3  # 90 s at a hundredth


def test_a_retry_backs_off_and_then_goes_through(launched: Launched, out: Path) -> None:
    retry = [{"ErrorEquals": ["States.TaskFailed"], "IntervalSeconds": 10, "BackoffRate": 2, "MaxAttempts": 2}]
    catch = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}]
    states = {"Call": _invoke(Retry=retry, Catch=catch, End=True), "Caught": {"Type": "Pass", "End": True}}
    stack = launched(_world(out, _machine(states, "Call")))
    output = _output(stack, {"raise": "broken"})
    assert output["error"]["Error"] == "ValueError"
    assert json.loads(output["error"]["Cause"])["errorMessage"] == "broken"
    times = [note["at"] for note in stack.notes()]
    assert len(times) == 3
    assert 0.1 <= times[1] - times[0] < times[2] - times[1]


def test_a_caught_timeout_goes_on(launched: Launched, out: Path) -> None:
    catch = [{"ErrorEquals": ["States.Timeout"], "ResultPath": "$.error", "Next": "Late"}]
    states = {"Ask": _ask(TimeoutSeconds=1, Catch=catch, End=True), "Late": {"Type": "Pass", "End": True}}
    stack = launched(_world(out, _machine(states, "Ask")))
    execution = _start(stack)
    token = _message(stack)["token"]
    assert json.loads(_ended(stack, execution)["output"])["error"]["Error"] == "States.Timeout"
    with pytest.raises(ClientError, match="TaskTimedOut"):
        stack.client("stepfunctions").send_task_success(taskToken=token, output="{}")


def test_a_missed_heartbeat_times_the_task_out_and_a_sent_one_does_not(launched: Launched, out: Path) -> None:
    catch = [{"ErrorEquals": ["States.Timeout", "States.HeartbeatTimeout"], "Next": "Late"}]
    states = {
        "Ask": _ask(TimeoutSeconds=30, HeartbeatSeconds=1, Catch=catch, End=True),
        "Late": {"Type": "Pass", "Result": "late", "End": True},
    }
    stack = launched(_world(out, _machine(states, "Ask")))
    client = stack.client("stepfunctions")
    execution = _start(stack)
    token = _message(stack)["token"]
    for _ in range(4):
        time.sleep(0.4)
        client.send_task_heartbeat(taskToken=token)
    assert client.describe_execution(executionArn=execution)["status"] == "RUNNING"
    assert json.loads(_ended(stack, execution)["output"]) == "late"


def test_the_first_answer_to_a_token_counts(launched: Launched, out: Path) -> None:
    stack = launched(_world(out, _machine({"Ask": _ask(End=True)}, "Ask")))
    client = stack.client("stepfunctions")
    execution = _start(stack, {"incident": "i1"})
    message = _message(stack)
    assert message["input"] == {"incident": "i1"}
    client.send_task_success(taskToken=message["token"], output='{"verdict": "act"}')
    with pytest.raises(ClientError, match="TaskTimedOut"):
        client.send_task_success(taskToken=message["token"], output='{"verdict": "other"}')
    assert json.loads(_ended(stack, execution)["output"]) == {"verdict": "act"}


def test_a_failure_answer_carries_error_and_cause(launched: Launched, out: Path) -> None:
    catch = [{"ErrorEquals": ["Refused"], "Next": "Caught"}]
    states = {"Ask": _ask(Catch=catch, End=True), "Caught": {"Type": "Pass", "End": True}}
    stack = launched(_world(out, _machine(states, "Ask")))
    execution = _start(stack)
    token = _message(stack)["token"]
    stack.client("stepfunctions").send_task_failure(taskToken=token, error="Refused", cause="no budget")
    assert json.loads(_ended(stack, execution)["output"]) == {"Error": "Refused", "Cause": "no budget"}


def test_a_token_that_never_was_is_refused(launched: Launched, out: Path) -> None:
    stack = launched(_world(out, _machine({"Done": _DONE}, "Done")))
    with pytest.raises(ClientError, match="InvalidToken"):
        stack.client("stepfunctions").send_task_success(taskToken="nonsense", output="{}")


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
    stack = launched(_world(out, _machine(states, "Put")))
    assert _output(stack, {"id": "x"}) == {"id": "x"}
    assert _message(stack) == {"id": "x"}


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
    stack = launched(_world(out, _machine(states, "Table")))
    output = _output(stack)
    assert "T" in output["table"]["Table"]["CreationDateTime"]
    assert output["error"]["Error"] == "Ec2.Ec2Exception"


def test_the_same_name_and_input_is_the_same_execution_while_it_runs(launched: Launched, out: Path) -> None:
    stack = launched(_world(out, _machine({"Ask": _ask(End=True)}, "Ask")))
    first = _start(stack, {"a": 1}, "incident-1")
    assert _start(stack, {"a": 1}, "incident-1") == first
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        _start(stack, {"a": 2}, "incident-1")
    stack.client("stepfunctions").send_task_success(taskToken=_message(stack)["token"], output="{}")
    _ended(stack, first)
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        _start(stack, {"a": 1}, "incident-1")


def test_of_many_starts_at_once_one_execution_runs(launched: Launched, out: Path) -> None:
    stack = launched(_world(out, _machine({"Call": _invoke(End=True)}, "Call")))
    threads = [threading.Thread(target=_try_start, args=(stack,)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eventually(stack.notes)
    time.sleep(0.2)
    assert len(stack.notes()) == 1


def _try_start(stack: Stack) -> None:
    with contextlib.suppress(ClientError):  # ExecutionAlreadyExists, once the first one has ended
        _start(stack, {"a": 1}, "only-one")


def test_a_stopped_execution_is_aborted_with_its_reason(launched: Launched, out: Path) -> None:
    stack = launched(_world(out, _machine({"Wait": {"Type": "Wait", "Seconds": 90000, "End": True}}, "Wait")))
    execution = _start(stack)
    stack.client("stepfunctions").stop_execution(executionArn=execution, error="Operator", cause="enough")
    ended = _ended(stack, execution)
    assert (ended["status"], ended["error"], ended["cause"]) == ("ABORTED", "Operator", "enough")


def test_a_definition_from_s3_is_read_and_filled_in(launched: Launched, out: Path) -> None:
    stack = launched({"Bucket": {"Type": "AWS::S3::Bucket"}})
    definition = {"StartAt": "P", "States": {"P": {"Type": "Pass", "Result": "${Word}", "End": True}}}
    stack.client("s3").put_object(Bucket=stack.outputs["Bucket"], Key="asl.json", Body=json.dumps(definition))
    properties = {
        "DefinitionS3Location": {"Bucket": stack.outputs["Bucket"], "Key": "asl.json"},
        "DefinitionSubstitutions": {"Word": "filled"},
        "RoleArn": arn("MachineRole"),
    }
    machine = {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}
    assert _output(launched({"MachineRole": role(service="states"), "Machine": machine})) == "filled"


def test_a_placeholder_without_a_value_fails_the_deployment(launched: Launched, out: Path) -> None:
    machine = _machine({"P": {"Type": "Pass", "Result": "${Nothing}", "End": True}}, "P")
    with pytest.raises(Exception, match="no value for Nothing"):
        launched(_world(out, machine))
