"""Rubbish on the stream or among decisions, a monstrous line, a bad policy: each is answered, the rest goes on."""

import json
from datetime import UTC, datetime
from typing import Any

from boto3.dynamodb.types import TypeDeserializer

from local.demo import seeding
from local.demo.cluster import LocalCluster
from policies.contract.times import format_time
from tests.tools.stories import XID_79, Story, dead_letters, revision_of

NO_VERDICT = {"M": {"status": {"S": "none yet"}}}
KEY = "bad-input"
LARGEST = (1 << 20) - len(KEY)  # Kinesis takes a record of 1 MiB, its partition key counted in
FIVE_MB = 5_000_000


def test_bad_records_lie_in_the_rejects_store_and_their_neighbours_go_through(
    cluster: LocalCluster, story: Story
) -> None:
    good, version, kind = (spool_envelope(cluster, name) for name in ("good", "version", "kind"))
    version["schema_version"] = 7
    kind["events"][0]["kind"] = "gpu.unheard_of"
    put(cluster, b"\xff" * LARGEST, json.dumps(version).encode(), json.dumps(kind).encode(), json.dumps(good).encode())
    story.wait(lambda: '"good"' in window_of_first(story), "the good record behind the bad ones was not judged")
    story.wait(lambda: len(story.rejects()) == 3, "three bad records make three rejects")
    told = " | ".join(item["reason"]["S"] for item in story.rejects())
    assert f"{LARGEST} bytes" in told
    assert "schema_version 7" in told
    assert "kind: is no word of the vocabulary" in told
    largest = max(story.rejects(), key=lambda item: int(item["size"]["N"]))
    kept = cluster.aws.client("s3").head_object(Bucket=cluster.outputs["RejectsBucket"], Key=largest["s3_key"]["S"])
    assert kept["ContentLength"] == LARGEST
    story.nothing_given_up(rejects=3)


def test_a_kernel_line_of_five_megabytes_is_cut_and_flagged(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    line = f"NVRM: Xid (PCI:0000:53:00): 13, pid=1234, name=python, Graphics SM Warp Exception {'A' * FIVE_MB}"
    machine.kernel_log.write(line)
    machine.kernel_log.xid(5, 63)
    events: list[dict[str, Any]] = []

    def both_came() -> bool:
        events[:] = [
            event
            for record in story.records()
            if machine.instance_id.encode() in record
            for event in json.loads(record)["events"]
            if event["kind"] == "gpu.xid"
        ]
        return {event["attributes"]["xid"] for event in events} >= {13, 63}

    story.wait(both_came, "the long line and the one behind it did not both arrive")
    (long,) = [event for event in events if event["attributes"]["xid"] == 13]
    assert long["attributes"]["truncated"] is True
    assert len(long["message"].encode()) <= 2048
    story.nothing_lost()


def test_a_policy_that_does_not_parse_is_answered_on_its_item_and_the_last_revision_stays(
    cluster: LocalCluster, story: Story
) -> None:
    before = revision_of(cluster, XID_79)
    bad = {**seeding.shipped_policies()[XID_79], "when": 'event.kind == "gpu.xid" && && event.attributes.xid == 79'}
    seeding.put_policies(cluster.aws, cluster.outputs["PoliciesTable"], {XID_79: bad})
    story.wait(lambda: verdict_on(cluster)["status"] == "rejected", "the guard did not answer on the item")
    assert [problem["path"] for problem in verdict_on(cluster)["problems"]] == ["when"]
    assert all(problem["reason"] and problem["hint"] for problem in verdict_on(cluster)["problems"])
    assert revision_of(cluster, XID_79) == before
    story.ends_well(story.break_gpu())


def test_a_decision_nobody_can_read_is_refused_at_once_and_holds_nobody_of_its_cluster_back(
    cluster: LocalCluster, story: Story
) -> None:
    sqs, group = cluster.aws.client("sqs"), cluster.site.cluster
    queue = cluster.outputs["DecisionsQueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody="{", MessageGroupId=group, MessageDeduplicationId="poison")
    story.wait(lambda: dead_letters(cluster), "the poison did not come to rest")
    ((name, count),) = dead_letters(cluster).items()
    url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    (dead,) = sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"]
    assert (count, dead["Body"], dead["MessageAttributes"]["received"]["StringValue"]) == (1, "{", "1")
    assert dead["MessageAttributes"]["reason"]["StringValue"].startswith("not a message for coordinate: ")
    sqs.delete_message(QueueUrl=url, ReceiptHandle=dead["ReceiptHandle"])
    story.ends_well(story.break_gpu())


def put(cluster: LocalCluster, *records: bytes) -> None:
    """All in one call, and on one shard, so that they come to triage together."""
    entries = [{"Data": record, "PartitionKey": KEY} for record in records]
    answer = cluster.aws.client("kinesis").put_records(StreamName=cluster.outputs["FaultsStream"], Records=entries)
    assert answer["FailedRecordCount"] == 0


def window_of_first(story: Story) -> str:
    return str(story.window(next(iter(story.cluster.room))).get("doc"))


def verdict_on(cluster: LocalCluster) -> dict[str, Any]:
    """What the guard has written on the item that a person edits."""
    key = {"name": {"S": XID_79}, "sk": {"S": "live"}}
    table = cluster.outputs["PoliciesTable"]
    item = cluster.aws.client("dynamodb").get_item(TableName=table, Key=key, ConsistentRead=True)["Item"]
    verdict: dict[str, Any] = TypeDeserializer().deserialize(item.get("verdict", NO_VERDICT))
    return verdict


def spool_envelope(cluster: LocalCluster, spool: str) -> dict[str, Any]:
    """An envelope of the first node as its agent would send it, from a spool of its own."""
    site, machine = cluster.site, next(iter(cluster.room))
    now = format_time(datetime.now(UTC))
    return {
        "schema_version": 1,
        "node": {
            "cluster": site.cluster,
            "name": machine.name,
            "instance_id": machine.instance_id,
            "instance_type": machine.instance_type,
            "availability_zone": machine.zone,
            "network_path": [],
            "boot_id": machine.boot_id,
        },
        "spool_id": spool,
        "first_seq": 0,
        "sent_at": now,
        "agent_version": "0",
        "events": [
            {
                "id": spool.encode().hex().ljust(32, "0"),
                "seq": 0,
                "kind": "gpu.xid",
                "severity": "warning",
                "persistence": "transient",
                "source": "kernel_log",
                "observed_at": now,
                "first_observed_at": now,
                "count": 1,
                "component": {"type": "gpu", "pci": "0000:53:00"},
                "attributes": {"xid": 31},
                "message": "",
            }
        ],
    }
