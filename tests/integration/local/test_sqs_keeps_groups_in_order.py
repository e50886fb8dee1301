"""SQS: groups, visibility, deduplication, redrive to the dead-letter queue, and queues as event sources."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.integration.local.stacks import Resources, Stack, arn, eventually, function, mapping, received, role

Launched = Callable[[Resources], Stack]


def _queue(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SQS::Queue", "Properties": properties}


def _fifo(**properties: Any) -> dict[str, Any]:
    return _queue(FifoQueue=True, **properties)


def _consumer(out: Path, queue: dict[str, Any], *, report: bool = False, **properties: Any) -> dict[str, Any]:
    types = {"FunctionResponseTypes": ["ReportBatchItemFailures"]} if report else {}
    return {
        "Role": role(),
        "Queue": queue,
        "Function": function("sink.records", out, environment={"REPORT": "yes"} if report else {}),
        "Mapping": mapping(arn("Queue"), **types, **properties),
    }


def _send(stack: Stack, body: dict[str, Any], group: str | None = None, queue: str = "Queue") -> None:
    fifo = {"MessageGroupId": group, "MessageDeduplicationId": str(body["id"])} if group else {}
    stack.client("sqs").send_message(QueueUrl=stack.outputs[queue], MessageBody=json.dumps(body), **fifo)


def _receive(stack: Stack, queue: str = "Queue", **more: Any) -> list[dict[str, Any]]:
    arguments = {"MaxNumberOfMessages": 10, "MessageSystemAttributeNames": ["All"], **more}
    messages: list[dict[str, Any]] = (
        stack.client("sqs").receive_message(QueueUrl=stack.outputs[queue], **arguments).get("Messages", [])
    )
    return messages


def _hide(stack: Stack, receipt: str, seconds: int) -> None:
    """Let a message that was received be hidden for so long from now on."""
    stack.client("sqs").change_message_visibility(
        QueueUrl=stack.outputs["Queue"], ReceiptHandle=receipt, VisibilityTimeout=seconds
    )


def _receipts(stack: Stack, identifier: Any) -> list[str]:
    """What the function received this message by, each time."""
    records = [record for note in stack.notes() for record in note["event"]["Records"]]
    return [record["receiptHandle"] for record in records if json.loads(record["body"])["id"] == identifier]


def _comes_again(stack: Stack, identifier: Any, times: int) -> None:
    """Let a message show again once the function had it so many times: sooner than hidden messages do by themselves."""
    eventually(lambda: len(_receipts(stack, identifier)) == times)
    _hide(stack, _receipts(stack, identifier)[-1], 0)


def _ids(messages: list[dict[str, Any]]) -> list[Any]:
    return [json.loads(message["Body"])["id"] for message in messages]


def test_a_fifo_queue_without_a_name_gets_one_that_ends_in_fifo(launched: Launched) -> None:
    stack = launched({"Queue": _fifo()})
    assert stack.outputs["Queue"].endswith(".fifo")


def test_later_messages_of_a_group_wait_while_an_earlier_one_is_in_flight(launched: Launched) -> None:
    stack = launched({"Queue": _fifo(VisibilityTimeout=30)})
    for number in range(3):
        _send(stack, {"id": f"a{number}"}, "a")
    _send(stack, {"id": "b0"}, "b")
    first = _receive(stack, MaxNumberOfMessages=1)
    assert _ids(first) == ["a0"]
    assert _ids(_receive(stack)) == ["b0"]
    stack.client("sqs").delete_message(QueueUrl=stack.outputs["Queue"], ReceiptHandle=first[0]["ReceiptHandle"])
    assert _ids(_receive(stack)) == ["a1", "a2"]


def test_a_message_that_shows_again_comes_before_the_later_ones_of_its_group(launched: Launched) -> None:
    stack = launched({"Queue": _fifo(VisibilityTimeout=30)})
    for number in range(2):
        _send(stack, {"id": number}, "a")
    first = _receive(stack, MaxNumberOfMessages=1)[0]
    _hide(stack, first["ReceiptHandle"], 0)
    again = _receive(stack)
    assert _ids(again) == [0, 1]
    assert again[0]["Attributes"]["ApproximateReceiveCount"] == "2"
    assert again[0]["Attributes"]["SequenceNumber"] < again[1]["Attributes"]["SequenceNumber"]


def test_a_duplicate_is_swallowed_even_after_the_first_was_deleted(launched: Launched) -> None:
    stack = launched({"Queue": _fifo()})
    _send(stack, {"id": 1}, "a")
    message = _receive(stack)[0]
    stack.client("sqs").delete_message(QueueUrl=stack.outputs["Queue"], ReceiptHandle=message["ReceiptHandle"])
    _send(stack, {"id": 1}, "a")
    assert _receive(stack) == []


def test_a_message_is_hidden_for_its_visibility_timeout_and_then_shows_again(launched: Launched) -> None:
    stack = launched({"Queue": _queue(VisibilityTimeout=600)})
    _send(stack, {"id": 1})
    message = _receive(stack)[0]
    assert _receive(stack) == []
    started = time.monotonic()
    _hide(stack, message["ReceiptHandle"], 1)
    assert _ids(received(stack)) == [1]
    assert time.monotonic() - started > 0.5


def test_each_message_goes_to_one_of_many_receivers(launched: Launched) -> None:
    stack = launched({"Queue": _queue(VisibilityTimeout=30)})
    for number in range(60):
        _send(stack, {"id": number})
    received: list[Any] = []

    def drain() -> None:
        while messages := _receive(stack, MaxNumberOfMessages=3):
            received.extend(_ids(messages))

    threads = [threading.Thread(target=drain) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(received) == list(range(60))


def test_a_receipt_that_never_was_is_refused(launched: Launched) -> None:
    stack = launched({"Queue": _queue()})
    with pytest.raises(ClientError, match="ReceiptHandleIsInvalid"):
        stack.client("sqs").delete_message(QueueUrl=stack.outputs["Queue"], ReceiptHandle="made-up")


def test_a_message_received_too_often_moves_to_the_dead_letter_queue(launched: Launched) -> None:
    policy = {"deadLetterTargetArn": arn("Dead"), "maxReceiveCount": 2}
    stack = launched({"Dead": _fifo(), "Queue": _fifo(VisibilityTimeout=0, RedrivePolicy=policy)})
    _send(stack, {"id": 1}, "a")
    _send(stack, {"id": 2}, "a")
    for _ in range(2):
        _receive(stack, MaxNumberOfMessages=1)
    assert _ids(_receive(stack, MaxNumberOfMessages=1)) == [2]
    dead = _receive(stack, "Dead")
    assert _ids(dead) == [1]
    assert dead[0]["Attributes"]["MessageGroupId"] == "a"


def test_the_function_gets_a_groups_messages_in_order(launched: Launched, out: Path) -> None:
    stack = launched(_consumer(out, _fifo(VisibilityTimeout=30), BatchSize=3))
    sent = [(f"{group}{number:02d}", group) for number in range(12) for group in "abc"]
    for identifier, group in sent:
        _send(stack, {"id": identifier}, group)
    eventually(lambda: len(stack.ids()) == len(sent))
    for group in "abc":
        mine = [identifier for identifier in stack.ids() if identifier.startswith(group)]
        assert mine == sorted(mine)


def test_a_failing_message_holds_its_group_and_no_other(launched: Launched, out: Path) -> None:
    stack = launched(_consumer(out, _fifo(VisibilityTimeout=600), BatchSize=1))
    _send(stack, {"id": "a0", "fail_times": 1}, "a")
    _send(stack, {"id": "a1"}, "a")
    _send(stack, {"id": "b0"}, "b")
    eventually(lambda: len(stack.ids()) == 2)
    _comes_again(stack, "a0", 1)
    eventually(lambda: len(stack.ids()) == 4)
    assert sorted(stack.ids()[:2]) == ["a0", "b0"]
    assert stack.ids()[2:] == ["a0", "a1"]


def test_only_reported_messages_come_again_and_the_poisoned_one_dead_letters_alone(
    launched: Launched, out: Path
) -> None:
    policy = {"deadLetterTargetArn": arn("Dead"), "maxReceiveCount": 2}
    queue = _queue(VisibilityTimeout=600, RedrivePolicy=policy)
    stack = launched({"Dead": _queue(), **_consumer(out, queue, report=True)})
    for number in range(3):
        _send(stack, {"id": number, "poison": number == 1})
    eventually(lambda: sorted(stack.ids()) == [0, 1, 2])
    for times in (1, 2):
        _comes_again(stack, 1, times)
    assert _ids(received(stack, "Dead")) == [1]
    assert stack.ids().count(1) == 2
    assert stack.ids().count(0) == stack.ids().count(2) == 1


def test_maximum_concurrency_bounds_the_invocations_at_one_time(launched: Launched, out: Path) -> None:
    scaling = {"MaximumConcurrency": 2}
    stack = launched(_consumer(out, _queue(), BatchSize=1, ScalingConfig=scaling))
    for number in range(6):
        _send(stack, {"id": number, "sleep": 0.3})
    eventually(lambda: len(stack.notes()) == 6)
    ends = sorted(note["at"] for note in stack.notes())
    assert ends[-1] - ends[0] > 0.5  # three rounds of two, each 0.3 s


def test_a_message_looks_as_lambda_shows_it(launched: Launched, out: Path) -> None:
    stack = launched(_consumer(out, _fifo(ContentBasedDeduplication=True)))
    stack.client("sqs").send_message(
        QueueUrl=stack.outputs["Queue"],
        MessageBody='{"id": 1}',
        MessageGroupId="g",
        MessageAttributes={"kind": {"DataType": "String", "StringValue": "x"}},
    )
    record = eventually(stack.notes)[0]["event"]["Records"][0]
    assert record["eventSource"] == "aws:sqs"
    assert record["body"] == '{"id": 1}'
    assert record["attributes"]["MessageGroupId"] == "g"
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert record["messageAttributes"]["kind"]["stringValue"] == "x"
