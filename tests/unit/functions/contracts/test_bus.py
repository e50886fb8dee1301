"""What the bus does: the twin and EventBridge (on moto, with a queue listening)."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.adapters.eventbridge_bus import ENTRIES_PER_CALL, EventBridgeBus
from functions.ports.bus import Announcement, Bus
from functions.twins.bus import MemoryBus
from policies.contract.errors import DependencyError

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Heard = Callable[[], list[tuple[str, dict[str, object]]]]


def announcement(number: int) -> Announcement:
    return Announcement(id=f"incident:{number}", type="Incident Opened", at=NOW, detail={"incident": "i", "at": number})


@pytest.fixture(params=["twin", "eventbridge"])
def bus(request: pytest.FixtureRequest) -> Iterator[tuple[Bus, Heard]]:
    if request.param == "twin":
        twin = MemoryBus()
        yield twin, lambda: [(it.type, {"id": it.id, **it.detail}) for it in twin.told]
        return
    with mock_aws():
        events, sqs = boto3.client("events", region_name="us-east-1"), boto3.client("sqs", region_name="us-east-1")
        events.create_event_bus(Name="relight")
        url = sqs.create_queue(QueueName="heard")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        pattern = json.dumps({"source": ["relight"], "detail-type": ["Incident Opened"]})
        events.put_rule(Name="all", EventBusName="relight", EventPattern=pattern)
        events.put_targets(Rule="all", EventBusName="relight", Targets=[{"Id": "q", "Arn": arn}])

        def heard() -> list[tuple[str, dict[str, object]]]:
            found: list[dict[str, Any]] = []
            while batch := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                found += [json.loads(message["Body"]) for message in batch]
            return [(it["detail-type"], it["detail"]) for it in found]

        yield EventBridgeBus(events, "relight"), heard


def test_announcements_are_heard_with_their_type_and_id(bus: tuple[Bus, Heard]) -> None:
    tell, heard = bus
    assert list(tell.put([announcement(1)])) == []
    assert heard() == [("Incident Opened", {"id": "incident:1", "incident": "i", "at": 1})]


def test_more_than_one_call_takes_is_heard_as_well(bus: tuple[Bus, Heard]) -> None:
    tell, heard = bus
    assert list(tell.put([announcement(number) for number in range(ENTRIES_PER_CALL + 1)])) == []
    assert {detail["at"] for _, detail in heard()} == set(range(ENTRIES_PER_CALL + 1))


def test_nothing_to_tell_is_no_call(bus: tuple[Bus, Heard]) -> None:
    tell, heard = bus
    assert list(tell.put([])) == []
    assert heard() == []


class FakeEvents:
    """Answers put_events as EventBridge does when it cannot take some entries."""

    def __init__(self, *refused: int) -> None:
        self.refused = refused

    def put_events(self, *, Entries: list[dict[str, str]]) -> dict[str, object]:  # noqa: N803 - boto3's name
        numbers = [json.loads(entry["Detail"])["at"] for entry in Entries]
        return {
            "Entries": [{"ErrorCode": "InternalFailure"} if it in self.refused else {"EventId": "e"} for it in numbers]
        }


def test_the_refused_come_back_in_their_order() -> None:
    bus = EventBridgeBus(FakeEvents(1, 11, 12), "relight")  # type: ignore[arg-type]  # a fake of the one call made
    refused = bus.put([announcement(number) for number in range(14)])
    assert [it.detail["at"] for it in refused] == [1, 11, 12]


def test_the_twin_refuses_and_fails_as_told() -> None:
    twin = MemoryBus()
    twin.refusing["incident:1"] = 1
    assert [it.id for it in twin.put([announcement(1), announcement(2)])] == ["incident:1"]
    assert list(twin.put([announcement(1)])) == []
    twin.failing = True
    with pytest.raises(DependencyError):
        twin.put([announcement(3)])
