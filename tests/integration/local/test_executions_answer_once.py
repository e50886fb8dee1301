"""Step Functions: task tokens, heartbeats, names that start once, and stopping."""

import contextlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.integration.local.machines import DONE, ask, ended, invoke, machine, message, start, world
from tests.integration.local.stacks import Resources, Stack, eventually

Launched = Callable[[Resources], Stack]


def test_a_caught_timeout_goes_on(launched: Launched, out: Path) -> None:
    catch = [{"ErrorEquals": ["States.Timeout"], "ResultPath": "$.error", "Next": "Late"}]
    states = {"Ask": ask(TimeoutSeconds=1, Catch=catch, End=True), "Late": {"Type": "Pass", "End": True}}
    stack = launched(world(out, machine(states, "Ask")))
    execution = start(stack)
    token = message(stack)["token"]
    assert json.loads(ended(stack, execution)["output"])["error"]["Error"] == "States.Timeout"
    with pytest.raises(ClientError, match="TaskTimedOut"):
        stack.client("stepfunctions").send_task_success(taskToken=token, output="{}")


def test_a_missed_heartbeat_times_the_task_out_and_a_sent_one_does_not(launched: Launched, out: Path) -> None:
    for seconds in (1, 5, 25):  # the first is long enough unless others keep this machine from beating for so long
        stack = launched(world(out, _beating(seconds)))
        execution = start(stack)
        with contextlib.suppress(ClientError):  # TaskTimedOut
            _beat(stack, message(stack)["token"], 1.6 * seconds)
        running = stack.client("stepfunctions").describe_execution(executionArn=execution)["status"] == "RUNNING"
        assert json.loads(ended(stack, execution)["output"]) == "late"
        if running:
            return
    raise AssertionError("it timed out though it beat")


def _beating(seconds: int) -> dict[str, Any]:
    catch = [{"ErrorEquals": ["States.Timeout", "States.HeartbeatTimeout"], "Next": "Late"}]
    states = {
        "Ask": ask(TimeoutSeconds=600, HeartbeatSeconds=seconds, Catch=catch, End=True),
        "Late": {"Type": "Pass", "Result": "late", "End": True},
    }
    return machine(states, "Ask")


def _beat(stack: Stack, token: str, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        stack.client("stepfunctions").send_task_heartbeat(taskToken=token)
        time.sleep(0.2)
    stack.client("stepfunctions").send_task_heartbeat(taskToken=token)


def test_the_first_answer_to_a_token_counts(launched: Launched, out: Path) -> None:
    stack = launched(world(out, machine({"Ask": ask(End=True)}, "Ask")))
    client = stack.client("stepfunctions")
    execution = start(stack, {"incident": "i1"})
    asked = message(stack)
    assert asked["input"] == {"incident": "i1"}
    client.send_task_success(taskToken=asked["token"], output='{"verdict": "act"}')
    with pytest.raises(ClientError, match="TaskTimedOut"):
        client.send_task_success(taskToken=asked["token"], output='{"verdict": "other"}')
    assert json.loads(ended(stack, execution)["output"]) == {"verdict": "act"}


def test_a_failure_answer_carries_error_and_cause(launched: Launched, out: Path) -> None:
    catch = [{"ErrorEquals": ["Refused"], "Next": "Caught"}]
    states = {"Ask": ask(Catch=catch, End=True), "Caught": {"Type": "Pass", "End": True}}
    stack = launched(world(out, machine(states, "Ask")))
    execution = start(stack)
    token = message(stack)["token"]
    stack.client("stepfunctions").send_task_failure(taskToken=token, error="Refused", cause="no budget")
    assert json.loads(ended(stack, execution)["output"]) == {"Error": "Refused", "Cause": "no budget"}


def test_a_token_that_never_was_is_refused(launched: Launched, out: Path) -> None:
    stack = launched(world(out, machine({"Done": DONE}, "Done")))
    with pytest.raises(ClientError, match="InvalidToken"):
        stack.client("stepfunctions").send_task_success(taskToken="nonsense", output="{}")


def test_the_same_name_and_input_is_the_same_execution_while_it_runs(launched: Launched, out: Path) -> None:
    stack = launched(world(out, machine({"Ask": ask(End=True)}, "Ask")))
    first = start(stack, {"a": 1}, "incident-1")
    assert start(stack, {"a": 1}, "incident-1") == first
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        start(stack, {"a": 2}, "incident-1")
    stack.client("stepfunctions").send_task_success(taskToken=message(stack)["token"], output="{}")
    ended(stack, first)
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        start(stack, {"a": 1}, "incident-1")


def test_of_many_starts_at_once_one_execution_runs(launched: Launched, out: Path) -> None:
    stack = launched(world(out, machine({"Call": invoke(End=True)}, "Call")))
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
        start(stack, {"a": 1}, "only-one")


def test_a_stopped_execution_is_aborted_with_its_reason(launched: Launched, out: Path) -> None:
    stack = launched(world(out, machine({"Wait": {"Type": "Wait", "Seconds": 90000, "End": True}}, "Wait")))
    execution = start(stack)
    stack.client("stepfunctions").stop_execution(executionArn=execution, error="Operator", cause="enough")
    found = ended(stack, execution)
    assert (found["status"], found["error"], found["cause"]) == ("ABORTED", "Operator", "enough")
