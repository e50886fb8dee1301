"""What coordinate's way to the dead letters does: the twin and SQS (on moto)."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import boto3
import pytest
from moto import mock_aws

from functions.adapters.sqs_dead_letters import SqsDeadLetters
from functions.ports.dead_letters import FULL_BYTES, REASON_LETTERS, DeadLetter, DeadLetters
from functions.twins.dead_letters import MemoryDeadLetters
from policies.contract.errors import DependencyError

LETTER = DeadLetter("m-1", "east", "{", "not a message.", "BadInputError", 2)
Read = Callable[[], list[tuple[str, str, dict[str, str]]]]


@pytest.fixture(params=["twin", "sqs"])
def ways(request: pytest.FixtureRequest) -> Iterator[tuple[DeadLetters, Read]]:
    if request.param == "twin":
        twin = MemoryDeadLetters()
        yield twin, lambda: [(it.group, it.body, dict(it.attributes)) for it in twin.letters]
        return
    with mock_aws():
        client = boto3.client("sqs", region_name="us-east-1")
        url = client.create_queue(QueueName="dead.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]

        def read() -> list[tuple[str, str, dict[str, str]]]:
            answer = client.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"], MessageAttributeNames=["All"]
            )
            return [
                (
                    it["Attributes"]["MessageGroupId"],
                    it["Body"],
                    {name: each["StringValue"] for name, each in it.get("MessageAttributes", {}).items()},
                )
                for it in answer.get("Messages", [])
            ]

        yield SqsDeadLetters(client, url), read


def test_a_letter_keeps_body_and_group_and_says_why(ways: tuple[DeadLetters, Read]) -> None:
    letters, read = ways
    letters.send(LETTER)
    assert read() == [("east", "{", {"reason": "not a message.", "error": "BadInputError", "received": "2"})]


def test_the_same_stay_in_the_queue_is_one_letter_and_another_one_is_another(ways: tuple[DeadLetters, Read]) -> None:
    letters, read = ways
    for letter in (LETTER, replace(LETTER, received=3), replace(LETTER, id="m-2"), LETTER):
        letters.send(letter)
    assert [attributes["received"] for _, _, attributes in read()] == ["2", "2"]


def test_a_reason_of_any_length_and_letters_gets_through(ways: tuple[DeadLetters, Read]) -> None:
    letters, read = ways
    letters.send(replace(LETTER, reason="\x00\ud800\uffff\n" + "ü" * 5000))
    letters.send(replace(LETTER, id="m-2", reason="", error=""))
    long, none = (attributes for _, _, attributes in read())
    assert long["reason"] == "???\n" + "ü" * (REASON_LETTERS - 4)
    assert (none["reason"], none["error"]) == ("?", "?")


def test_a_body_that_fills_the_message_goes_alone(ways: tuple[DeadLetters, Read]) -> None:
    letters, read = ways
    letters.send(replace(LETTER, body="x" * FULL_BYTES, reason="ü" * REASON_LETTERS))
    letters.send(replace(LETTER, id="m-2", body="x" * (256 * 1024)))
    assert [bool(attributes) for _, _, attributes in read()] == [True, False]


def test_a_queue_that_is_not_there_is_a_failed_dependency() -> None:
    with mock_aws():
        url = "https://sqs.us-east-1.amazonaws.com/123456789012/none.fifo"
        letters = SqsDeadLetters(boto3.client("sqs", region_name="us-east-1"), url)
        with pytest.raises(DependencyError, match="dead-lettering a message"):
            letters.send(LETTER)
