"""Triage's stores: the twin and AWS keep the same promises."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

import boto3
import pytest
from moto import mock_aws

from functions.adapters.node_states import DynamoNodeStates
from functions.adapters.rejects import INLINE_BYTES, AwsRejects
from functions.adapters.seen import BUCKETS, MOST_NODES_A_WRITE, DynamoSeen
from functions.adapters.sqs_decisions import SqsDecisions
from functions.ports.heartbeats import Heartbeats, SignsOfLife
from functions.ports.triage import Decisions, Heard, NodeKey, NodeStates, Reject, RejectStore, SeenWriter, StoredState
from functions.twins.triage import MemoryDecisions, MemoryNodeStates, MemoryRejects, MemorySeen
from policies.contract.decisions import FindingsMessage, parse_message
from policies.contract.envelope import CANARY_NODE
from policies.evaluator import evaluate
from tests.tools.envelopes import NOW, at, delivery, event, rules
from tests.tools.tables import create_tables

ONE, OTHER = NodeKey("c", "i-1"), NodeKey("c", "i-2")


class Seen(SeenWriter, Heartbeats, SignsOfLife, Protocol):
    """Both sides."""


@dataclass(frozen=True)
class Ports:
    states: NodeStates
    rejects: RejectStore
    seen: Seen
    decisions: Decisions
    queue_url: str = ""

    def arrived(self) -> list[FindingsMessage]:
        """Return what the queue delivers."""
        if isinstance(self.decisions, MemoryDecisions):
            return self.decisions.arrived
        answer = boto3.client("sqs").receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10)
        messages = [parse_message(one["Body"]) for one in answer.get("Messages", [])]
        return [message for message in messages if isinstance(message, FindingsMessage)]


@pytest.fixture(params=["memory", "aws"])
def ports(request: pytest.FixtureRequest) -> Iterator[Ports]:
    if request.param == "memory":
        yield Ports(MemoryNodeStates(), MemoryRejects(), MemorySeen(), MemoryDecisions())
        return
    with mock_aws():
        dynamodb, s3, sqs = boto3.client("dynamodb"), boto3.client("s3"), boto3.client("sqs")
        create_tables(dynamodb)
        s3.create_bucket(Bucket="rejects")
        url = sqs.create_queue(QueueName="decisions.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        yield Ports(
            DynamoNodeStates(dynamodb, "fleet"),
            AwsRejects(dynamodb, "fleet", s3, "rejects"),
            DynamoSeen(dynamodb, "fleet", lambda: NOW),
            SqsDecisions(sqs, url),
            url,
        )


def reject(number: int = 0, payload: bytes = b"\xff{}", seconds: float = 0) -> Reject:
    return Reject(f"{number:032x}", at(seconds), "faults", "no reason", "mend it", payload, "c", "i-1")


def test_a_node_never_heard_of_has_an_empty_state(ports: Ports) -> None:
    assert ports.states.load([ONE], NOW) == {ONE: StoredState("", 0)}


def test_what_is_committed_is_read_back_with_the_next_version(ports: Ports) -> None:
    outcome = ports.states.commit({ONE: StoredState("a"), OTHER: StoredState("b")}, NOW)
    assert (outcome.conflicts, outcome.failed) == (frozenset(), {})
    assert ports.states.load([ONE, OTHER], NOW) == {ONE: StoredState("a", 1), OTHER: StoredState("b", 1)}
    ports.states.commit({ONE: StoredState("c", 1)}, NOW)
    assert ports.states.load([ONE], NOW) == {ONE: StoredState("c", 2)}


def test_a_stale_version_conflicts_and_hurts_no_other_node(ports: Ports) -> None:
    ports.states.commit({ONE: StoredState("a")}, NOW)
    outcome = ports.states.commit({ONE: StoredState("late", 0), OTHER: StoredState("b", 0)}, NOW)
    assert outcome.conflicts == {ONE}
    assert ports.states.load([ONE, OTHER], NOW) == {ONE: StoredState("a", 1), OTHER: StoredState("b", 1)}
    assert ports.states.commit({ONE: StoredState("x", 7)}, NOW).conflicts == {ONE}


def test_a_state_that_would_be_forgotten_asks_to_be_renewed(ports: Ports) -> None:
    ports.states.commit({ONE: StoredState("a")}, NOW)
    assert not ports.states.load([ONE], NOW + timedelta(days=6))[ONE].ages
    assert ports.states.load([ONE], NOW + timedelta(days=8))[ONE].ages


def test_many_nodes_are_read_and_written_in_one_call(ports: Ports) -> None:
    many = {NodeKey("c", f"i-{number}"): StoredState(str(number)) for number in range(230)}
    assert ports.states.commit(many, NOW).conflicts == frozenset()
    assert {key: state.text for key, state in ports.states.load(many.keys(), NOW).items()} == {
        key: state.text for key, state in many.items()
    }
    assert ports.states.load([], NOW) == {}
    assert ports.states.commit({}, NOW).conflicts == frozenset()


@pytest.mark.parametrize("size", [0, 10, INLINE_BYTES, INLINE_BYTES + 1, 1 << 20])
def test_a_reject_keeps_its_payload_byte_by_byte(ports: Ports, size: int) -> None:
    kept = reject(payload=bytes(number % 256 for number in range(size)))
    ports.rejects.put([kept])
    (line,) = ports.rejects.list(kept.day)
    assert ports.rejects.load(line) == kept
    assert (line.id, line.reason, line.hint, line.size) == (kept.id, kept.reason, kept.hint, size)


def test_the_same_reject_again_is_still_one(ports: Ports) -> None:
    assert ports.rejects.put([reject()]) == [reject()]
    assert ports.rejects.put([reject(), reject(0xB0 << 120)]) == [reject(0xB0 << 120)]
    assert len(ports.rejects.list(NOW.date())) == 2


def test_rejects_are_listed_by_day_newest_first_and_loaded_by_their_line(ports: Ports) -> None:
    ports.rejects.put([reject(0xA0 << 120), reject(0xB0 << 120, seconds=60), reject(0xC0 << 120, seconds=86_400)])
    assert [line.id[:2] for line in ports.rejects.list(NOW.date())] == ["b0", "a0"]
    assert [line.id[:2] for line in ports.rejects.list(NOW.date(), limit=1)] == ["b0"]
    newest, oldest = ports.rejects.list(NOW.date())
    assert ports.rejects.load(oldest) == reject(0xA0 << 120)
    assert ports.rejects.load(replace(newest, id="f" * 32)) is None
    assert ports.rejects.list(at(-86_400).date()) == []
    ports.rejects.put([])


def test_a_day_of_more_than_one_page_is_listed_whole(ports: Ports) -> None:
    payload = b"x" * INLINE_BYTES  # 40 of them are more than the 1 MB at which DynamoDB ends a page
    ports.rejects.put([reject(number, payload=payload, seconds=number) for number in range(40)])
    assert len(ports.rejects.list(NOW.date())) == 40
    assert len(ports.rejects.list(NOW.date(), limit=35)) == 35


def test_a_node_was_last_seen_when_it_was_last_written(ports: Ports) -> None:
    assert ports.seen.last_seen("c", "i-1") is None
    ports.seen.write([Heard("c", "i-1", "boot", at(-60)), Heard("c", "i-2", "", at(-5))])
    ports.seen.write([Heard("c", "i-1", "boot", at(-1.5))])
    assert ports.seen.last_seen("c", "i-1") == at(-1.5)
    assert ports.seen.last_seen("c", "i-2") == at(-5)
    assert ports.seen.last_seen("other", "i-1") is None


def test_a_node_heard_before_midnight_is_still_known_after(ports: Ports) -> None:
    ports.seen.write([Heard("c", "i-1", "boot", NOW - timedelta(hours=12))])
    assert ports.seen.last_seen("c", "i-1") == NOW - timedelta(hours=12)


def test_everyone_is_read_at_once_with_the_newest_sign(ports: Ports) -> None:
    ports.seen.write([Heard("c", "i-1", "boot", at(-60)), Heard("c", f"{CANARY_NODE}/i-1", "sweep:1", at(-5))])
    ports.seen.write([Heard("c", "i-1", "boot", at(-1.5)), Heard("d", "i-2", "boot", NOW)])
    assert ports.seen.everyone("c") == {
        "i-1": Heard("c", "i-1", "boot", at(-1.5)),
        f"{CANARY_NODE}/i-1": Heard("c", f"{CANARY_NODE}/i-1", "sweep:1", at(-5)),
    }


def test_more_nodes_than_one_write_takes_are_seen_in_one_call(ports: Ports) -> None:
    together = [name for name in (f"i-{number}" for number in range(5000)) if zlib.crc32(name.encode()) % BUCKETS == 3]
    names = together[: MOST_NODES_A_WRITE + 20]
    ports.seen.write([Heard("c", name, "boot", NOW) for name in names])
    assert {ports.seen.last_seen("c", name) for name in (names[0], names[-1])} == {NOW}


def test_a_message_sent_again_arrives_once_and_whole(ports: Ports) -> None:
    findings = evaluate([delivery(event(0))], state="", rulebook=rules(), now=NOW).findings
    message = FindingsMessage(cluster="c", findings=findings)
    ports.decisions.send(message)
    ports.decisions.send(message)
    ports.decisions.send(FindingsMessage(cluster="d", findings=findings))
    arrived = ports.arrived()
    assert sorted(one.cluster for one in arrived) == ["c", "d"]
    assert next(one for one in arrived if one.cluster == "c") == message
