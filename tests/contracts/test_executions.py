"""handle-incident's executions: the twin and Step Functions keep the same promises."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import boto3
import pytest
from moto import mock_aws

from functions.adapters.executions import StepFunctionsExecutions
from functions.ports.coordination import Executions
from functions.twins.executions import MemoryExecutions
from policies.contract.decisions import Answer
from policies.contract.errors import DependencyError
from policies.coordination.snapshot import ExecutionState
from tests.tools.sources import eventually

ROLE = "arn:aws:iam::123456789012:role/r"
ANSWER = Answer(verdict="closed", incident="abc", attempt=1, step=1)


@dataclass(frozen=True)
class World:
    """``token`` returns that of the ask that now waits."""

    executions: Executions
    token: Callable[[], str]


@pytest.fixture(params=["memory", "step-functions"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        yield memory_world()
        return
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield step_functions_world()


def memory_world() -> World:
    executions = MemoryExecutions()

    def token() -> str:
        executions.wait_for("the-token")
        return "the-token"

    return World(executions, token)


def step_functions_world() -> World:
    sqs, states = boto3.client("sqs"), boto3.client("stepfunctions")
    queue = sqs.create_queue(QueueName="asks")["QueueUrl"]
    ask = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"QueueUrl": queue, "MessageBody": {"token.$": "$$.Task.Token"}},
        "TimeoutSeconds": 60,
        "End": True,
    }
    machine = states.create_state_machine(
        name="handle-incident", definition=json.dumps({"StartAt": "Ask", "States": {"Ask": ask}}), roleArn=ROLE
    )["stateMachineArn"]

    def token() -> str:
        asked: list[str] = []

        def heard() -> bool:
            asked.extend(message["Body"] for message in sqs.receive_message(QueueUrl=queue).get("Messages", []))
            return bool(asked)

        eventually(heard)
        return str(json.loads(asked[0])["token"])

    return World(StepFunctionsExecutions(states, machine), token)


def test_an_execution_that_nobody_started_is_absent(world: World) -> None:
    assert world.executions.describe("abc", 1) is ExecutionState.ABSENT


def test_starting_again_is_the_same_execution(world: World) -> None:
    world.executions.start("west", "abc", 1)
    world.executions.start("west", "abc", 1)
    assert world.executions.describe("abc", 1) is ExecutionState.RUNNING
    assert world.executions.describe("abc", 2) is ExecutionState.ABSENT
    world.executions.answer(world.token(), ANSWER)


def test_an_ask_may_be_answered_again(world: World) -> None:
    world.executions.start("west", "abc", 1)
    token = world.token()
    assert world.executions.answer(token, ANSWER)
    world.executions.answer(token, ANSWER)  # whether anybody still waits is moto's to tell; it is no error


def test_a_token_that_nobody_waits_with_is_no_error(world: World) -> None:
    assert not world.executions.answer("of another time", ANSWER)


def test_an_ended_execution_is_not_started_again() -> None:
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        world = step_functions_world()
        world.executions.start("west", "abc", 1)
        world.executions.answer(world.token(), ANSWER)
        eventually(lambda: world.executions.describe("abc", 1) is ExecutionState.ENDED)
        world.executions.start("west", "abc", 1)
        assert world.executions.describe("abc", 1) is ExecutionState.ENDED


def test_a_machine_that_is_not_there_is_a_dependency_that_failed() -> None:
    arn = "arn:aws:states:us-east-1:123456789012:stateMachine:absent"
    with mock_aws(), pytest.raises(DependencyError, match="deploy again"):
        StepFunctionsExecutions(boto3.client("stepfunctions"), arn).start("west", "abc", 1)
