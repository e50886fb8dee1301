"""Every record of a batch lands in the archive, whatever its bytes, and a repeat changes nothing."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta
from typing import Any

import pytest

from functions.archive.archive import Archive
from functions.archive.keeping import Keeper
from functions.place_book import PlaceBook
from functions.ports.archive import ArchiveWriter
from functions.triage.records import read_records
from functions.twins.archive import MemoryArchive
from functions.twins.topology import MemoryTopology
from functions.twins.triage import MemoryTelemetry
from policies.contract.archive import ArchivedRecord
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError
from simulator.archive.period import read_records as read_period
from simulator.archive.reading import Told
from tests.tools.envelopes import NOW, at, envelope, event, kinesis_event, node, sqs_event
from tests.tools.faulty_ports import LosesAnswers

JUNK = [
    b"",
    b"\xff\xfe",
    b"[]",
    b"{",
    b'{"schema_version":9}',
    b"[" * 50_000,
    b'{"node":{"instance_id":7},"events":[1]}',
    b'{"a":"\n"}',
]


class Topology(MemoryTopology):
    """Remembers whom it was asked for, and may be down."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.down = False

    def find(self, clusters: Sequence[str], instance_ids: Sequence[str]) -> Mapping[str, NodeIdentity]:
        if self.down:
            raise DependencyError("it is down.")
        self.asked += instance_ids
        return super().find(clusters, instance_ids)


class Bench:
    """The writer over twins."""

    def __init__(self, writer: ArchiveWriter | None = None) -> None:
        self.archive = MemoryArchive()
        self.topology = Topology()
        self.telemetry = MemoryTelemetry()
        self.now = NOW
        out = writer or self.archive
        self.writer = Archive(out, Keeper(out, PlaceBook(self.topology)), self.telemetry, lambda: self.now)

    def read(self) -> list[ArchivedRecord]:
        return list(read_period(self.archive, NOW - timedelta(days=1), NOW + timedelta(days=1), Told()))


def body(seq: int, **more: Any) -> bytes:  # noqa: ANN401 - as `envelope` takes them
    return envelope(event(seq), **more).to_json().encode()


def test_whatever_bytes_came_are_read_back_with_their_lane_their_arrival_and_their_id() -> None:
    bench = Bench()
    bodies = [body(0), *JUNK]
    bench.writer.handle(kinesis_event(*bodies, arrived=2))
    bench.writer.handle(sqs_event(body(1).decode(), arrived=3, names=["m-1"]))
    read = bench.read()
    assert {one.body for one in read} == {*bodies, body(1)}
    assert {one.id for one in read} == {*(f"shardId-000000000000:{at + 1}" for at in range(len(bodies))), "m-1"}
    assert [(one.lane, one.arrived_at) for one in read][-1] == ("overflow", at(3))
    assert bench.telemetry.counts["RecordsArchived"] == len(bodies) + 1


def test_a_batch_over_two_hours_makes_an_object_of_each() -> None:
    bench = Bench()
    late, early = kinesis_event(body(0), arrived=3601), kinesis_event(body(1), arrived=3599, first=2)
    bench.writer.handle({"Records": [*late["Records"], *early["Records"]]})
    hours = sorted(key.split("/")[4] for key in bench.archive.objects)
    assert hours == [f"{NOW:%H}", f"{NOW + timedelta(hours=1):%H}"]
    assert [one.arrived_at for one in bench.read()] == [at(3599), at(3601)]


def test_the_same_batch_makes_the_same_objects() -> None:
    bench = Bench()
    told = kinesis_event(*[body(seq) for seq in range(5)])
    bench.writer.handle(told)
    first = dict(bench.archive.objects)
    bench.writer.handle(told)
    assert bench.archive.objects == first


@pytest.mark.parametrize("seed", range(4))
def test_a_writer_that_dies_and_comes_again_with_other_batches_loses_and_doubles_nothing(seed: int) -> None:
    chance = random.Random(seed)
    records = kinesis_event(*[body(seq) for seq in range(60)])["Records"]
    bench = Bench()
    at_record = 0
    while at_record < len(records):
        batch = records[at_record : at_record + chance.randint(1, 20)]
        dies = chance.random() < 0.5
        writer = LosesAnswers(bench.archive, "put") if dies else bench.archive
        worker = Archive(writer, Keeper(writer, PlaceBook(bench.topology)), bench.telemetry, lambda: NOW)
        if dies:
            with pytest.raises(DependencyError):
                worker.handle({"Records": batch})
        else:
            worker.handle({"Records": batch})
            at_record += len(batch)
    assert [one.id for one in bench.read()] == sorted(one["eventID"] for one in records)


def test_a_place_is_looked_up_for_events_without_one_and_for_nothing_else() -> None:
    bench = Bench()
    nodes = [node(f"i-{number}") for number in range(3)]
    for each in nodes:
        bench.topology.kept["c", each.instance_id] = each.model_copy(update={"network_path": ("nn-1", "nn-2")})
    says = nodes[1].model_copy(update={"network_path": ("own",)})
    heartbeat = envelope(identity=nodes[2]).to_json().encode()
    bench.writer.handle(
        kinesis_event(body(0, identity=nodes[0]), body(0, identity=says), heartbeat, body(0, identity=node("i-9")))
    )
    assert [one.place for one in bench.read()] == [("nn-1", "nn-2"), (), (), ()]


def test_a_place_is_remembered_and_one_that_nobody_knows_is_asked_for_again_in_a_minute() -> None:
    bench = Bench()
    bench.topology.kept["c", "i-1"] = node("i-1").model_copy(update={"network_path": ("nn-1",)})
    for seconds in (0, 59, 61):
        bench.now = at(seconds)
        bench.writer.handle(kinesis_event(body(0), body(0, identity=node("i-2")), arrived=seconds))
    assert bench.topology.asked == ["i-1", "i-2", "i-2"]


def test_a_topology_that_cannot_be_read_raises_and_the_batch_comes_again() -> None:
    bench = Bench()
    bench.topology.down = True
    with pytest.raises(DependencyError):
        bench.writer.handle(kinesis_event(body(0)))
    assert bench.archive.objects == {}


def test_the_largest_batch_that_lambda_hands_over_makes_one_object() -> None:
    bench = Bench()
    noise = random.Random(0).randbytes(4000)
    bench.writer.handle(kinesis_event(*[noise + b"%d" % number for number in range(1000)]))
    [(key, packed)] = bench.archive.objects.items()
    assert key.startswith(f"events/{NOW.astimezone(UTC):%Y/%m/%d/%H}/")
    assert len(packed) < 6 * 1024 * 1024
    assert len(read_records({})) == 0
    assert len(bench.read()) == 1000
