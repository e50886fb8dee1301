"""What the faults lane does: the twin and Kinesis (on moto)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import boto3
import pytest
from moto import mock_aws

from functions.adapters.kinesis_faults import BYTES_PER_CALL, RECORDS_PER_CALL, ROUNDS, KinesisFaults
from functions.ports.faults import FaultsLane
from functions.twins.faults import MemoryFaultsLane
from policies.contract.envelope import Envelope, NodeIdentity
from policies.contract.errors import DependencyError

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Read = Callable[[], list[Envelope]]


def heartbeat(instance: str, number: int = 0, padding: str = "") -> Envelope:
    node = NodeIdentity(cluster="c", name=f"node-{instance}{padding}", instance_id=instance)
    return Envelope(node=node, spool_id=f"test:{instance}", first_seq=number, sent_at=NOW)


@pytest.fixture(params=["twin", "kinesis"])
def lane(request: pytest.FixtureRequest) -> Iterator[tuple[FaultsLane, Read]]:
    if request.param == "twin":
        twin = MemoryFaultsLane()
        yield twin, lambda: twin.accepted
        return
    with mock_aws():
        client = boto3.client("kinesis", region_name="us-east-1")
        client.create_stream(StreamName="faults", ShardCount=1)

        def read() -> list[Envelope]:
            shard = client.describe_stream(StreamName="faults")["StreamDescription"]["Shards"][0]["ShardId"]
            place = client.get_shard_iterator(StreamName="faults", ShardId=shard, ShardIteratorType="TRIM_HORIZON")
            records = client.get_records(ShardIterator=place["ShardIterator"])["Records"]
            return [Envelope.model_validate_json(record["Data"]) for record in records]

        yield KinesisFaults(client, "faults"), read


def test_envelopes_arrive_whole_and_in_order(lane: tuple[FaultsLane, Read]) -> None:
    put, read = lane
    sent = [heartbeat("i-1", number) for number in range(3)]
    put.put(sent)
    assert read() == sent


def test_nothing_to_put_is_nothing_put(lane: tuple[FaultsLane, Read]) -> None:
    put, read = lane
    put.put([])
    assert read() == []


def test_more_than_one_call_takes_arrives_as_well(lane: tuple[FaultsLane, Read]) -> None:
    put, read = lane
    sent = [heartbeat("i-1", number) for number in range(RECORDS_PER_CALL + 1)]
    put.put(sent)
    assert read() == sent


class FakeKinesis:
    """Answers put_records as Kinesis does under throttling: refuses given keys so many times."""

    def __init__(self, refusals: dict[str, int]) -> None:
        self.refusals = refusals
        self.calls: list[list[str]] = []
        self.largest = 0

    def put_records(self, *, StreamName: str, Records: list[dict[str, str | bytes]]) -> dict[str, object]:  # noqa: N803 - boto3's names
        assert StreamName == "faults"
        self.largest = max(self.largest, sum(len(it["Data"]) + len(it["PartitionKey"]) for it in Records))
        self.calls.append([str(record["PartitionKey"]) for record in Records])
        return {"Records": [self._answer(str(record["PartitionKey"])) for record in Records]}

    def _answer(self, key: str) -> dict[str, str]:
        if self.refusals.get(key, 0) > 0:
            self.refusals[key] -= 1
            return {"ErrorCode": "ProvisionedThroughputExceededException"}
        return {"SequenceNumber": "1"}


def put(kinesis: FakeKinesis, *envelopes: Envelope) -> None:
    KinesisFaults(kinesis, "faults").put(envelopes)  # type: ignore[arg-type]  # a fake of the one call that is made


def test_only_refused_records_are_tried_again_and_in_their_order() -> None:
    kinesis = FakeKinesis({"i-2": 1, "i-3": 1})
    put(kinesis, *map(heartbeat, ["i-1", "i-2", "i-3", "i-4"]))
    assert kinesis.calls == [["i-1", "i-2", "i-3", "i-4"], ["i-2", "i-3"]]


def test_what_is_refused_every_time_is_a_failed_dependency_that_says_why() -> None:
    kinesis = FakeKinesis({"i-2": 99})
    with pytest.raises(DependencyError, match=r"refused 1 of 2 records: ProvisionedThroughputExceeded"):
        put(kinesis, heartbeat("i-1"), heartbeat("i-2"))
    assert len(kinesis.calls) == ROUNDS


def test_a_call_never_exceeds_what_kinesis_takes() -> None:
    kinesis = FakeKinesis({})
    put(kinesis, *(heartbeat("i-1", number, "x" * 250_000) for number in range(60)))
    assert len(kinesis.calls) == 2
    assert kinesis.largest <= BYTES_PER_CALL


def test_a_stream_that_is_not_there_is_a_failed_dependency() -> None:
    with mock_aws(), pytest.raises(DependencyError, match="putting envelopes"):
        KinesisFaults(boto3.client("kinesis", region_name="us-east-1"), "none").put([heartbeat("i-1")])
