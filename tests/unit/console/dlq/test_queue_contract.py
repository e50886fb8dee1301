"""What every SQS does for `relight dlq`: the twin and the adapter (on moto)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from console.dlq.adapters.queues import SqsQueues
from console.dlq.model import Message, QueueState
from console.dlq.ports import Queues
from console.dlq.twins import MemoryQueues
from policies.contract.errors import DependencyError


@dataclass(frozen=True)
class World:
    """Queues to test, and how to make one."""

    queues: Queues
    create: Callable[..., QueueState]

    def fill(self, state: QueueState, *bodies: str, group: str = "") -> None:
        for number, body in enumerate(bodies):
            message = Message(f"{body}-{number}", body, datetime.now(UTC), 0, group=group, attributes={"WHO": "test"})
            self.queues.send(state.url, message, fifo=state.fifo)


@pytest.fixture(params=["twin", "sqs"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "twin":
        twin = MemoryQueues(lambda: datetime.now(UTC))
        yield World(twin, twin.create)
        return
    with mock_aws():
        client = boto3.client("sqs", region_name="us-east-1")
        cloudwatch = boto3.client("cloudwatch", region_name="us-east-1")
        queues = SqsQueues(client, cloudwatch, lambda: datetime.now(UTC))

        def create(name: str, *, fifo: bool = False, dead_letters: str = "") -> QueueState:
            policy = f'{{"deadLetterTargetArn": "{dead_letters}", "maxReceiveCount": "3"}}'
            attributes = {"FifoQueue": "true"} if fifo else {}
            url = client.create_queue(
                QueueName=name + (".fifo" if fifo else ""),
                Attributes=attributes | ({"RedrivePolicy": policy} if dead_letters else {}),  # type: ignore[arg-type]
            )["QueueUrl"]
            return queues.describe(url)

        yield World(queues, create)


def test_a_queue_says_what_it_is_and_holds(world: World) -> None:
    dead = world.create("dead", fifo=True)
    source = world.create("source", fifo=True, dead_letters=dead.arn)
    world.fill(dead, "a", "b", group="g")
    assert (dead.fifo, dead.depth, dead.dead_letters) == (True, 0, "")
    assert source.dead_letters == dead.arn
    assert world.queues.describe(dead.url).depth == 2


def test_what_is_received_is_hidden_until_it_is_released(world: World) -> None:
    queue = world.create("dead")
    world.fill(queue, "a", "b")
    held = world.queues.receive(queue.url, hidden_seconds=30)
    assert sorted(message.body for message in held) == ["a", "b"]
    assert world.queues.receive(queue.url, hidden_seconds=30) == []
    state = world.queues.describe(queue.url)
    assert (state.depth, state.in_flight) == (0, 2)
    world.queues.release(queue.url, held)
    again = world.queues.receive(queue.url, hidden_seconds=30)
    assert {message.receives for message in again} == {2}


def test_a_message_keeps_body_group_and_attributes(world: World) -> None:
    queue = world.create("dead", fifo=True)
    world.fill(queue, "a", group="g")
    (message,) = world.queues.receive(queue.url, hidden_seconds=30)
    assert (message.body, message.group, message.attributes) == ("a", "g", {"WHO": "test"})
    assert datetime.now(UTC) - message.sent_at < timedelta(minutes=1)


def test_a_deleted_message_is_gone_and_may_be_deleted_again(world: World) -> None:
    queue = world.create("dead")
    world.fill(queue, "a")
    (message,) = world.queues.receive(queue.url, hidden_seconds=30)
    world.queues.delete(queue.url, message)
    world.queues.delete(queue.url, message)
    state = world.queues.describe(queue.url)
    assert (state.depth, state.in_flight) == (0, 0)


def test_releasing_more_than_ten_releases_all(world: World) -> None:
    queue = world.create("dead")
    world.fill(queue, *"abcdefghijkl")
    held = [*world.queues.receive(queue.url, hidden_seconds=30), *world.queues.receive(queue.url, hidden_seconds=30)]
    assert len(held) == 12
    world.queues.release(queue.url, held)
    assert world.queues.describe(queue.url).depth == 12


def test_the_oldest_message_is_known_and_an_empty_queue_has_none(world: World) -> None:
    queue = world.create("dead")
    assert world.queues.oldest(queue) is None
    world.fill(queue, "a", "b")
    oldest = world.queues.oldest(world.queues.describe(queue.url))
    assert oldest is not None
    assert datetime.now(UTC) - oldest < timedelta(minutes=1)
    assert world.queues.describe(queue.url).depth == 2


def test_a_queue_that_is_not_there_is_an_error_that_says_so(world: World) -> None:
    with pytest.raises(DependencyError, match="nowhere"):
        world.queues.describe("https://sqs.us-east-1.amazonaws.com/123456789012/nowhere")
