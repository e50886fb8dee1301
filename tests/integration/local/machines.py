"""A small world around a state machine, for the tests of Step Functions: function, queue, topic, table, roles."""

import json
from pathlib import Path
from typing import Any

from tests.integration.local.stacks import PATIENCE_SECONDS, Stack, arn, eventually, function, received, role

DONE = {"Type": "Succeed"}


def machine(states: dict[str, Any], start: str, **more: Any) -> dict[str, Any]:
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


def world(out: Path, machine: dict[str, Any]) -> dict[str, Any]:
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


def start(stack: Stack, value: Any = None, name: str | None = None) -> str:
    more = {"name": name} if name else {}
    answer = stack.client("stepfunctions").start_execution(
        stateMachineArn=stack.outputs["Machine"], input=json.dumps(value or {}), **more
    )
    return str(answer["executionArn"])


def ended(stack: Stack, execution: str, within: float = PATIENCE_SECONDS) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = stack.client("stepfunctions").describe_execution(executionArn=execution)
        return None if found["status"] == "RUNNING" else found

    last = eventually(look, within=within)
    assert last is not None
    return last


def output(stack: Stack, value: Any = None) -> Any:
    found = ended(stack, start(stack, value))
    assert found["status"] == "SUCCEEDED", found
    return json.loads(found["output"])


def message(stack: Stack) -> Any:
    return json.loads(received(stack)[0]["Body"])


def invoke(**more: Any) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": "${Function}", "Payload.$": "$"},
        "ResultSelector": {"event.$": "$.Payload.event"},
        **more,
    }


def ask(**more: Any) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"QueueUrl": "${Queue}", "MessageBody": {"token.$": "$$.Task.Token", "input.$": "$"}},
        **more,
    }
