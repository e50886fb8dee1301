"""Finding, peeking and redriving queues, on the twins."""

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from console.dlq.finding import choose, dead_queues
from console.dlq.looking import hold, peek
from console.dlq.model import DeadQueue, DlqError, Message, Outcome, QueueState, Stack
from console.dlq.reasons import why
from console.dlq.redrive_queues import QueueRedrive
from console.dlq.twins import MemoryQueues, MemoryTargets
from policies.contract.decisions import AskMessage, SweepMessage

NOW = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
TOPIC = "arn:aws:sns:us-east-1:123456789012:alerts"


@dataclass
class World:
    """The queues of a small stack."""

    now: datetime = NOW
    moves: bool = True
    queues: MemoryQueues = field(init=False)
    targets: MemoryTargets = field(default_factory=MemoryTargets)

    def __post_init__(self) -> None:
        self.queues = MemoryQueues(lambda: self.now, moves=self.moves)
        dead = self.queues.create("R-DecisionsDlq-1", fifo=True)
        self.decisions = self.queues.create("R-Decisions-1", fifo=True, dead_letters=dead.arn)
        self.queues.create("R-Undelivered-1")
        urls = ["https://sqs/R-DecisionsDlq-1", "https://sqs/R-Decisions-1", "https://sqs/R-Undelivered-1"]
        outputs = {"DecisionsQueueUrl": urls[1], "UndeliveredQueueUrl": urls[2], "FaultsStream": "faults"}
        self.stack = Stack("R", outputs, urls)

    def dead(self, name: str) -> DeadQueue:
        return choose(dead_queues(self.stack, self.queues), name)

    def put(self, name: str, *bodies: str, group: str = "", **attributes: str) -> None:
        state = self.dead(name).state
        for body in bodies:
            message = Message(body, body, self.now, 0, group=group, attributes=attributes)
            self.queues.send(state.url, message, fifo=state.fifo)

    def redrive(self, name: str, sweep: str = "sweep") -> QueueRedrive:
        def pause(seconds: float) -> None:
            self.now += timedelta(seconds=seconds)

        return QueueRedrive(self.queues, self.targets, self.dead(name), sweep, lambda _text: None, pause)

    def bodies(self, state: QueueState) -> list[str]:
        return [message.body for message in self.queues.receive(state.url, hidden_seconds=0)]


def test_queues_are_named_by_whose_messages_rest_there() -> None:
    world = World()
    found = dead_queues(world.stack, world.queues)
    assert [(queue.name, queue.source_name) for queue in found] == [("decisions-dlq", "decisions"), ("undelivered", "")]


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(DlqError, match="decisions-dlq, undelivered, rejects, failures"):
        World().dead("decision")


def test_looking_leaves_everything_as_it_was_but_for_one_more_receive() -> None:
    world = World()
    world.put("undelivered", *[str(number) for number in range(25)])
    assert [message.body for message in peek(world.queues, world.dead("undelivered"), 15)] == [
        str(n) for n in range(15)
    ]
    assert world.queues.describe("https://sqs/R-Undelivered-1").depth == 25
    assert {message.receives for message in peek(world.queues, world.dead("undelivered"), 5)} == {2}


def test_of_a_group_only_the_first_ten_can_be_seen() -> None:
    world = World()
    world.put("decisions-dlq", *[str(number) for number in range(12)], group="c")
    assert len(peek(world.queues, world.dead("decisions-dlq"), 100)) == 10


def test_holding_one_message_lets_the_others_go() -> None:
    world = World()
    world.put("undelivered", "a", "b", "c")
    wanted = peek(world.queues, world.dead("undelivered"), 10)[1]
    assert hold(world.queues, world.dead("undelivered"), wanted.id).body == "b"
    state = world.queues.describe("https://sqs/R-Undelivered-1")
    assert (state.depth, state.in_flight) == (2, 1)
    with pytest.raises(DlqError, match="shows no message 'nope'"):
        hold(world.queues, world.dead("undelivered"), "nope")


def test_sqs_moves_what_it_can_move_itself() -> None:
    world = World()
    world.put("decisions-dlq", "a", "b", group="c")
    assert world.redrive("decisions-dlq").all() == [
        Outcome("decisions-dlq", "redriven", "2 messages moved to decisions")
    ]
    assert world.bodies(world.decisions) == ["a", "b"]
    assert world.queues.describe(world.dead("decisions-dlq").state.url).depth == 0


def test_where_sqs_moves_nothing_they_go_one_by_one_in_their_groups() -> None:
    world = World(moves=False)
    world.put("decisions-dlq", *[str(number) for number in range(12)], group="c")
    outcomes = world.redrive("decisions-dlq").all()
    assert [one.status for one in outcomes] == ["redriven"] * 12
    received = world.queues.receive(world.decisions.url, hidden_seconds=0)
    assert [(message.body, message.group) for message in received] == [(str(n), "c") for n in range(10)]


def test_what_cannot_be_sent_stays_and_is_reported() -> None:
    world = World(moves=False)
    world.put("decisions-dlq", "a", group="c")
    world.queues.unsendable.add(world.decisions.url)
    (outcome,) = world.redrive("decisions-dlq").all()
    assert outcome.status == "failed"
    assert "failed" in outcome.detail
    world.now += timedelta(minutes=1)
    assert world.queues.describe(world.dead("decisions-dlq").state.url).depth == 1


def test_one_message_alone_can_be_sent() -> None:
    world = World()
    world.put("decisions-dlq", "a", "b", group="c")
    second = peek(world.queues, world.dead("decisions-dlq"), 10)[1]
    assert world.redrive("decisions-dlq").one(second.id).status == "redriven"
    assert world.bodies(world.decisions) == ["b"]
    assert world.bodies(world.dead("decisions-dlq").state) == ["a"]


def test_what_could_not_be_delivered_goes_to_whom_it_was_for() -> None:
    world = World()
    world.put("undelivered", "alert", TARGET_ARN=TOPIC, ERROR_CODE="NO_PERMISSIONS")
    world.put("undelivered", "{}", ErrorCode="200", ErrorMessage="boom")
    assert [one.status for one in world.redrive("undelivered").all()] == ["redriven", "redriven"]
    assert world.targets.delivered == [(TOPIC, "alert"), ("sweep", "{}")]
    assert world.queues.describe("https://sqs/R-Undelivered-1").depth == 0


def test_a_target_that_fails_keeps_its_message_and_no_other() -> None:
    world = World()
    world.put("undelivered", "alert", TARGET_ARN=TOPIC)
    world.put("undelivered", "{}", ErrorCode="200")
    world.targets.failing.add(TOPIC)
    assert [one.status for one in world.redrive("undelivered").all()] == ["failed", "redriven"]
    assert world.targets.delivered == [("sweep", "{}")]


def test_what_says_not_whom_it_was_for_is_left() -> None:
    world = World()
    world.put("undelivered", "junk")
    (outcome,) = world.redrive("undelivered").all()
    assert (outcome.status, world.targets.delivered) == ("failed", [])
    assert "expires by itself" in outcome.detail


def _message(body: str, **attributes: str) -> Message:
    return Message("m", body, NOW, 4, attributes=attributes)


def test_the_reason_is_read_from_the_message_itself() -> None:
    ask = AskMessage(cluster="c", incident="i", attempt=1, step=2, task_token="t" * 40)
    delivered = _message("{}", TARGET_ARN=TOPIC, ERROR_CODE="NO_PERMISSIONS", ERROR_MESSAGE="not allowed")
    assert why("decisions-dlq", _message(ask.to_json())).startswith("readable (ask of c)")
    assert "not a message for coordinate" in why("decisions-dlq", _message('{"type": "finding"}'))
    assert "schema_version '9' is unknown" in why("overflow-dlq", _message(json.dumps({"schema_version": "9"})))
    assert "readable (EC2 Spot)" in why("aws-events-dlq", _message('{"detail-type": "EC2 Spot"}'))
    assert "not JSON" in why("aws-events-dlq", _message("["))
    assert why("undelivered", delivered) == f"could not be delivered to {TOPIC}: NO_PERMISSIONS: not allowed"
    assert why("undelivered", _message("{}", ErrorCode="200", ErrorMessage="boom")) == "the function failed: 200: boom"


def test_what_its_reader_refused_says_so_until_sqs_gives_it_up_for_another_reason() -> None:
    sweep = SweepMessage(cluster="c", at=NOW).to_json()
    refused = _message("{", reason="not a message.", error="BadInputError", received="1")
    assert why("decisions-dlq", refused) == "not a message."
    broken = _message(sweep, reason="boom (rules.py:7)", error="KeyError", received="1")
    assert why("decisions-dlq", broken) == "its reader broke on it: KeyError: boom (rules.py:7)"
    later = replace(broken, given_up_by="arn:aws:sqs:us-east-1:123456789012:decisions")
    assert why("decisions-dlq", later).startswith("readable (sweep of c)")
