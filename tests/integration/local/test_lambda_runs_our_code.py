"""Lambda: environment, errors, deadlines, warm workers, asynchronous retries and their destinations."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from local.aws.principals import principal_of
from tests.integration.local.stacks import Resources, Stack, arn, eventually, function, received, role

Launched = Callable[[Resources], Stack]


def _resources(out: Path, **more: Any) -> dict[str, Any]:
    return {"Role": role(), "Function": function("sink.event", out, **more)}


def _invoke(stack: Stack, **event: Any) -> tuple[str | None, Any]:
    answer = stack.client("lambda").invoke(FunctionName=stack.outputs["Function"], Payload=json.dumps(event))
    return answer.get("FunctionError"), json.loads(answer["Payload"].read())


def _invoke_later(stack: Stack, **event: Any) -> int:
    answer = stack.client("lambda").invoke(
        FunctionName=stack.outputs["Function"], InvocationType="Event", Payload=json.dumps(event)
    )
    return int(answer["StatusCode"])


def _limit(stack: Stack, seconds: int) -> None:
    stack.client("lambda").update_function_configuration(FunctionName=stack.outputs["Function"], Timeout=seconds)


def test_a_function_has_its_own_environment_and_nothing_of_ours(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, environment={"TABLE": "fleet"}))
    _, answer = _invoke(stack, a=1)
    environment = answer["environment"]
    assert answer["event"] == {"a": 1}
    assert environment["TABLE"] == "fleet"
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == answer["function"] == stack.outputs["Function"]
    assert environment["_HANDLER"] == "sink.event"
    assert principal_of(environment["AWS_ACCESS_KEY_ID"]) == stack.outputs["Role"]
    assert "PYTEST_CURRENT_TEST" not in environment


def test_a_warm_worker_is_used_again(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    assert _invoke(stack)[1]["pid"] == _invoke(stack)[1]["pid"]


def test_an_exception_is_a_payload_with_type_message_and_trace(launched: Launched, out: Path) -> None:
    kind, payload = _invoke(launched(_resources(out)), **{"raise": "no such node"})
    assert kind == "Unhandled"
    assert payload["errorType"] == "ValueError"
    assert payload["errorMessage"] == "no such node"
    assert any("sink.py" in frame for frame in payload["stackTrace"])


def test_a_function_that_takes_too_long_is_killed(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    first = _invoke(stack)[1]["pid"]
    _limit(stack, 1)
    kind, payload = _invoke(stack, sleep=20)
    _limit(stack, 60)
    assert kind == "Unhandled"
    assert payload["errorType"] == "Sandbox.Timedout"
    assert "Task timed out after 1.00 seconds" in payload["errorMessage"]
    eventually(lambda: not Path(f"/proc/{first}").exists())
    assert _invoke(stack)[0] is None


def test_a_worker_that_dies_is_an_error_and_not_the_end(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    assert _invoke(stack, exit=1)[1]["errorType"] == "Runtime.ExitError"
    assert _invoke(stack)[0] is None


def test_code_that_the_asset_does_not_hold_cannot_be_imported(launched: Launched, out: Path) -> None:
    resources = _resources(out)
    resources["Function"]["Properties"]["Handler"] = "policies.contract.events.anything"
    kind, payload = _invoke(launched(resources))
    assert kind == "Unhandled"
    assert payload["errorType"] == "Runtime.ImportModuleError"
    assert payload["errorMessage"].startswith("Unable to import module 'policies.contract.events'")


def test_the_log_of_a_function_is_a_file(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    _invoke(stack, **{"raise": "for the log"})
    log = (stack.aws.data_dir / "logs" / f"{stack.outputs['Function']}.log").read_text()
    assert "ValueError: for the log" in log
    assert "START RequestId" in log


def test_an_event_invocation_answers_at_once_and_is_tried_three_times(launched: Launched, out: Path) -> None:
    stack = launched(
        {**_resources(out, DeadLetterConfig={"TargetArn": arn("Dead")}), "Dead": {"Type": "AWS::SQS::Queue"}}
    )
    assert _invoke_later(stack, **{"raise": "always"}) == 202
    message = received(stack, "Dead", MessageAttributeNames=["All"])[0]
    assert json.loads(message["Body"]) == {"raise": "always"}
    assert message["MessageAttributes"]["ErrorMessage"]["StringValue"] == "always"
    assert len(stack.notes()) == 3


def test_a_failure_destination_gets_the_invocation_record(launched: Launched, out: Path) -> None:
    config = {
        "Type": "AWS::Lambda::EventInvokeConfig",
        "Properties": {
            "FunctionName": {"Ref": "Function"},
            "Qualifier": "$LATEST",
            "MaximumRetryAttempts": 0,
            "DestinationConfig": {"OnFailure": {"Destination": arn("Failures")}},
        },
    }
    stack = launched({**_resources(out), "Failures": {"Type": "AWS::SQS::Queue"}, "Config": config})
    _invoke_later(stack, **{"raise": "once"})
    message = received(stack, "Failures")[0]
    record = json.loads(message["Body"])
    assert record["requestContext"]["condition"] == "RetriesExhausted"
    assert record["requestContext"]["approximateInvokeCount"] == 1
    assert record["requestPayload"] == {"raise": "once"}
    assert record["responsePayload"]["errorType"] == "ValueError"
    eventually(lambda: len(stack.notes()) == 1)
