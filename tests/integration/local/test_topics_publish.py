"""SNS: queues and functions as subscribers, filters, raw delivery, and reading what was published."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.integration.local.stacks import Resources, Stack, arn, eventually, function, received, role

Launched = Callable[[Resources], Stack]
_TOPIC = {"Topic": {"Type": "AWS::SNS::Topic"}}


def _subscription(protocol: str, endpoint: Any, **more: Any) -> dict[str, Any]:
    properties = {"TopicArn": {"Ref": "Topic"}, "Protocol": protocol, "Endpoint": endpoint, **more}
    return {"Type": "AWS::SNS::Subscription", "Properties": properties}


def _publish(stack: Stack, message: str, **attributes: str) -> None:
    shaped = {name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()}
    stack.client("sns").publish(
        TopicArn=stack.outputs["Topic"], Subject="alert", Message=message, MessageAttributes=shaped
    )


def _receive(stack: Stack, queue: str) -> list[str]:
    return [message["Body"] for message in received(stack, queue, MaxNumberOfMessages=10)]


def test_queues_get_envelopes_or_raw_messages_as_they_ask(launched: Launched) -> None:
    stack = launched(
        {
            **_TOPIC,
            "Plain": {"Type": "AWS::SQS::Queue"},
            "Raw": {"Type": "AWS::SQS::Queue"},
            "ToPlain": _subscription("sqs", arn("Plain"), RawMessageDelivery=False),
            "ToRaw": _subscription("sqs", arn("Raw"), RawMessageDelivery=True),
        }
    )
    _publish(stack, "gpu lost")
    envelope = json.loads(_receive(stack, "Plain")[0])
    assert envelope["Type"] == "Notification"
    assert envelope["Message"] == "gpu lost"
    assert envelope["Subject"] == "alert"
    assert _receive(stack, "Raw") == ["gpu lost"]


def test_a_filter_policy_lets_through_what_it_names(launched: Launched) -> None:
    policy = {"severity": ["critical"]}
    stack = launched(
        {
            **_TOPIC,
            "Queue": {"Type": "AWS::SQS::Queue"},
            "Sub": _subscription("sqs", arn("Queue"), FilterPolicy=policy, RawMessageDelivery=True),
        }
    )
    _publish(stack, "quiet", severity="info")
    _publish(stack, "loud", severity="critical")
    assert _receive(stack, "Queue") == ["loud"]


def test_a_function_gets_the_notification_as_a_record(launched: Launched, out: Path) -> None:
    stack = launched(
        {
            **_TOPIC,
            "Role": role(),
            "Function": function("sink.event", out),
            "Sub": _subscription("lambda", arn("Function")),
        }
    )
    _publish(stack, "gpu lost")
    record = eventually(stack.notes)[0]["event"]["Records"][0]
    assert record["EventSource"] == "aws:sns"
    assert record["Sns"]["Message"] == "gpu lost"
    assert record["Sns"]["TopicArn"] == stack.outputs["Topic"]


def test_what_was_published_can_be_read(launched: Launched) -> None:
    stack = launched({**_TOPIC, "Mail": _subscription("email", "oncall@example.org")})
    _publish(stack, "one")
    _publish(stack, "two", kind="x")
    published = stack.aws.published(stack.outputs["Topic"])
    assert [message["Message"] for message in published] == ["one", "two"]
    assert published[0]["Subject"] == "alert"
    assert "kind" in published[1]["MessageAttributes"]
