"""Plays a JSONPath state machine step by step, without a clock or a service: the caller gets waits and calls as values.

Knows what our definitions use and refuses everything else, so that a definition cannot rely on what nobody looked at.
"""

import hashlib
import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

Json = Any
PASSED = {"Type", "Comment", "Parameters", "Next", "End"}
TASK = {
    "Type",
    "Comment",
    "Resource",
    "Parameters",
    "ResultSelector",
    "ResultPath",
    "TimeoutSeconds",
    "HeartbeatSeconds",
}
TASK |= {"Retry", "Catch", "Next", "End"}


@dataclass(frozen=True)
class Nap:
    """Come back after so many seconds (of the definition)."""

    seconds: int


@dataclass(frozen=True)
class Invoke:
    """Call this function and send its payload back."""

    function: str
    payload: Json


@dataclass(frozen=True)
class Send:
    """Send this message, and send back what its token is answered with, or throw a TaskError."""

    body: Json
    group: str
    token: str
    timeout_seconds: int


class TaskError(Exception):
    """What a task ends with: ``States.Timeout`` or the name of a function's error."""

    def __init__(self, name: str, cause: str = "") -> None:
        super().__init__(f"{name}: {cause}")
        self.name = name
        self.cause = cause


class ExecutionFailed(Exception):  # noqa: N818 - as Step Functions says it
    """The execution ended in a Fail state, or with an error nobody caught."""


Steps = Generator[Nap | Invoke | Send, Json, Json]


@dataclass
class Player:
    """One execution. ``visits`` lists the states in their order."""

    definition: Mapping[str, Any]
    name: str
    visits: list[str]
    tokens: int = 0

    def play(self, data: Json) -> Steps:
        """Yield what the execution wants until it ends; return its output."""
        state = str(self.definition["StartAt"])
        while state:
            self.visits.append(state)
            data, state = yield from self._visit(self.definition["States"][state], data)
        return data

    def _visit(self, state: Mapping[str, Any], data: Json) -> Generator[Nap | Invoke | Send, Json, tuple[Json, str]]:
        kind = state["Type"]
        if kind == "Task":
            return (yield from self._task(state, data))
        if kind == "Pass":
            assert set(state) <= PASSED, state
            return fill(state.get("Parameters", data), data, {}), state.get("Next", "")
        if kind == "Choice":
            return data, next((rule["Next"] for rule in state["Choices"] if holds(rule, data)), state["Default"])
        if kind == "Wait":
            seconds = read(state["SecondsPath"], data, {})
            assert isinstance(seconds, int), f"Wait takes whole seconds, not {seconds!r}"
            yield Nap(seconds)
            return data, state["Next"]
        if kind == "Fail":
            raise ExecutionFailed(state["Error"])
        assert kind == "Succeed", kind
        return data, ""

    def _task(self, state: Mapping[str, Any], data: Json) -> Generator[Nap | Invoke | Send, Json, tuple[Json, str]]:
        assert set(state) <= TASK, state
        tries: dict[int, int] = {}
        while True:
            try:
                result = yield from self._call(state, data)
            except TaskError as error:
                wait = retry_after(state.get("Retry", ()), error, tries)
                if wait is not None:
                    yield Nap(wait)
                    continue
                caught = next(each for each in state["Catch"] if matches(each, error))
                return put(caught["ResultPath"], data, {"Error": error.name, "Cause": error.cause}), caught["Next"]
            return put(state["ResultPath"], data, result), state["Next"]

    def _call(self, state: Mapping[str, Any], data: Json) -> Generator[Nap | Invoke | Send, Json, Json]:
        if state["Resource"] == "arn:aws:states:::lambda:invoke":
            asked = fill(state["Parameters"], data, {})
            answer = {"StatusCode": 200, "Payload": (yield Invoke(asked["FunctionName"], asked["Payload"]))}
            return fill(state["ResultSelector"], answer, {})
        assert state["Resource"] == "arn:aws:states:::sqs:sendMessage.waitForTaskToken"
        self.tokens += 1
        token = f"{self.name}/{self.tokens}"
        asked = fill(state["Parameters"], data, {"Task": {"Token": token}})
        assert asked["MessageDeduplicationId"]
        return (yield Send(asked["MessageBody"], asked["MessageGroupId"], token, state["TimeoutSeconds"]))


def matches(rule: Mapping[str, Any], error: TaskError) -> bool:
    return error.name in rule["ErrorEquals"] or "States.ALL" in rule["ErrorEquals"]


def retry_after(rules: Json, error: TaskError, tries: dict[int, int]) -> int | None:
    for index, rule in enumerate(rules):
        if matches(rule, error):
            made = tries.get(index, 0)
            if made >= rule["MaxAttempts"]:
                return None
            tries[index] = made + 1
            return int(min(rule["IntervalSeconds"] * rule["BackoffRate"] ** made, rule["MaxDelaySeconds"]))
    return None


def holds(rule: Mapping[str, Any], data: Json) -> bool:
    if "And" in rule:
        return all(holds(each, data) for each in rule["And"])
    value = read(rule["Variable"], data, {})
    if "StringEquals" in rule:
        return bool(value == rule["StringEquals"])
    return bool(value < rule["NumericLessThan"])


def fill(template: Json, data: Json, context: Json) -> Json:
    if isinstance(template, dict):
        return dict(_filled(key, value, data, context) for key, value in template.items())
    return template


def _filled(key: str, value: Json, data: Json, context: Json) -> tuple[str, Json]:
    if key.endswith(".$"):
        return key[:-2], read(value, data, context)
    return key, fill(value, data, context)


def read(path: str, data: Json, context: Json) -> Json:
    call = re.fullmatch(r"(States\.\w+)\((.*)\)", path)
    if call:
        return intrinsic(call[1], [argument(each, data, context) for each in re.split(r",\s*", call[2])])
    root, names = (context, path[3:]) if path.startswith("$$.") else (data, path.removeprefix("$").removeprefix("."))
    for name in filter(None, names.split(".")):
        root = root[name]
    return root


def argument(text: str, data: Json, context: Json) -> Json:
    if text.startswith("'"):
        return text.strip("'")
    return read(text, data, context) if text.startswith("$") else json.loads(text)


def intrinsic(name: str, arguments: list[Json]) -> Json:
    if name == "States.MathAdd":
        return arguments[0] + arguments[1]
    if name == "States.Format":
        return arguments[0].replace("{}", "%s") % tuple(arguments[1:])
    assert name == "States.Hash", name
    return hashlib.new(arguments[1].replace("-", "").lower(), arguments[0].encode()).hexdigest()


def put(path: str, data: Json, result: Json) -> Json:
    return {**data, path.removeprefix("$."): result}
