"""A fault that is told again, by the wire, by the driver, or long after its node is gone: one act."""

import json
from datetime import UTC, datetime

import pytest

from functions.adapters.archive import S3Archive
from local.demo.cluster import LocalCluster
from local.fleet.fleet import Fault
from policies.contract.archive_names import EVENTS
from policies.contract.times import format_time
from simulator.archive.period import read_records
from simulator.archive.reading import Told
from simulator.backtest import Asked, backtest, read_past
from simulator.deeds import Difference
from tests.tools.stories import Story


@pytest.fixture(scope="module")
def told(cluster: LocalCluster) -> tuple[Story, Fault]:
    """One fault that is told three times while it is dealt with, and how its story began."""
    story = Story(cluster)
    machine = story.machine()
    fault = story.break_gpu()
    story.wait(lambda: fault_records(story, fault), "the fault did not arrive in Kinesis")
    put_again(cluster, fault_records(story, fault)[0])
    assert fault.gpu is not None
    assert fault.xid is not None
    machine.kernel_log.xid(fault.gpu, fault.xid)
    return story, fault


def fault_records(story: Story, fault: Fault) -> list[bytes]:
    return [record for record in story.records() if fault.instance_id.encode() in record and b'"gpu.xid"' in record]


def put_again(cluster: LocalCluster, record: bytes) -> None:
    """The same bytes, as a publisher sends them whose answer was lost."""
    key = json.loads(record)["node"]["instance_id"]
    cluster.aws.client("kinesis").put_record(StreamName=cluster.outputs["FaultsStream"], Data=record, PartitionKey=key)


def test_the_same_bytes_and_the_same_line_again_are_one_act(told: tuple[Story, Fault]) -> None:
    story, fault = told
    story.ends_well(fault)


def test_the_same_bytes_after_the_replacement_are_known(cluster: LocalCluster, told: tuple[Story, Fault]) -> None:
    story, fault = told
    (incident,) = story.wait_closed()
    put_again(cluster, fault_records(story, fault)[0])
    follow_with_a_mark(cluster, story, fault)
    assert [one.id for one in story.incidents()] == [incident.id]
    story.acted_once(endings=1)


def test_a_late_event_of_the_old_instance_is_recorded_and_nobody_acts(
    cluster: LocalCluster, told: tuple[Story, Fault]
) -> None:
    story, fault = told
    (incident,) = story.wait_closed()
    put_again(cluster, a_later_one(fault_records(story, fault)[0], gpu="0000:ca:00"))
    story.wait(
        lambda: any(note.late for one in story.acting() for note in one.findings),
        "the late finding did not reach the incident",
    )
    assert [one.id for one in story.incidents()] == [incident.id]
    story.acted_once(endings=1)
    assert len(cluster.room) == story.machines + 1


def test_a_back_test_on_the_archive_tells_it_again(cluster: LocalCluster, told: tuple[Story, Fault]) -> None:
    story, _fault = told
    archive = S3Archive(cluster.aws.client("s3"), cluster.outputs["ArchiveBucket"])
    asked = Asked(archive, "the archive", time_scale=cluster.time_scale)
    # Each look reads the whole archive from the server that also has to write it.
    cluster.wait_for(lambda: is_archived(asked, story), 600, "the archive does not have all of it", every=2.0)
    report = backtest(asked, read_past(asked))
    incidents = cluster.incidents()
    assert report.told.bad == []
    assert {each.incident for each in report.after.deeds} == {one.id for one in incidents}
    assert {each.finding for each in report.after.deeds} == {one.findings[0].id for one in incidents}
    assert [each for each in report.matters if each.difference is not Difference.SAME] == []
    assert report.new_acts == 0


def is_archived(asked: Asked, story: Story) -> bool:
    """Whether the newest version of each incident, and every event of the stream, lies in the archive."""
    if not asked.reader.days(EVENTS):
        return False
    past = read_past(asked)
    kept = {one.id: one.version for one in past.recorded.incidents()}
    records = read_records(asked.reader, past.since, past.until, Told())
    bodies = {one.body for one in records}
    told = {each for each in story.records() if b'"kind"' in each}
    return kept == {one.id: one.version for one in story.cluster.incidents()} and told <= bodies


def a_later_one(record: bytes, gpu: str, seq: int = 900) -> bytes:
    """What the old instance's agent would have sent of another GPU, had its network let it."""
    envelope = json.loads(record)
    now = format_time(datetime.now(UTC))
    (event, *_) = [one for one in envelope["events"] if one["kind"] == "gpu.xid"]
    event |= {"id": "f" * 32, "seq": seq, "observed_at": now, "first_observed_at": now}
    event["component"] |= {"pci": gpu}
    return json.dumps({**envelope, "first_seq": seq, "sent_at": now, "events": [event]}).encode()


def follow_with_a_mark(cluster: LocalCluster, story: Story, fault: Fault) -> None:
    """What is put after the repeat goes through the same shard: once it was judged, the repeat was too."""
    machine = cluster.room.get(fault.instance_id)
    envelope = json.loads(fault_records(story, fault)[0])
    mark = {**envelope, "spool_id": "mark", "first_seq": 1, "events": [], "sent_at": format_time(datetime.now(UTC))}
    put_again(cluster, json.dumps(mark).encode())
    story.wait(lambda: '"mark"' in story.window(machine)["doc"]["S"], "the record behind the repeat was not judged")
