"""Kinesis refuses for a while: severe events go through SQS and overtake the others, and every one counts once.

What came by both lanes, what was done and under which policies is then in the archive, though its writer dies and S3
refuses.
"""

import json
from collections import Counter
from typing import Any

import pytest

from local.demo.cluster import LocalCluster
from local.fleet.infrastructure import NODE_ROLE
from local.fleet.machines import Machine
from tests.tools.stack_archive import StackArchive, items_of, on_the_stream, sent_by_overflow
from tests.tools.stories import Story, put_policy, role_of, spool_of

NAME = "stories-three-contained-errors"
COUNTING: dict[str, Any] = {
    "name": NAME,
    "mode": "active",
    "why": "Three contained errors of one node within an hour.",
    "when": "event.kind == 'gpu.xid' && event.attributes.xid == 94",
    "count": {"at_least": 3, "within": "1h", "per": "node"},
    "do": ["record"],
}


@pytest.fixture(scope="module", autouse=True)
def counting_policy(cluster: LocalCluster) -> None:
    put_policy(cluster, COUNTING)


def test_nothing_is_dropped_and_nothing_counts_twice(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    refuse_kinesis(cluster, machine)
    machine.kernel_log.xid(0, 63)  # a warning: it waits for Kinesis
    cluster.aws.drop_answer("sqs", "SendMessage", principal=NODE_ROLE, containing='"xid":94')
    machine.kernel_log.xid(1, 94)
    machine.kernel_log.xid(2, 94)
    story.wait(lambda: seqs_heard(story, machine) == 2, "the severe events did not come through the overflow lane")
    # What triage has, its agent may not have noted yet; the warning waits for Kinesis as long as that refuses.
    story.wait(lambda: len(spool_of(machine).waiting) == 1, "not the warning alone waits for Kinesis")
    assert counted(story) == []

    cluster.aws.clear_faults()
    story.wait(lambda: len(spool_of(machine).waiting) == 0, "Kinesis takes again and the warning still waits")
    story.nothing_lost()
    assert counted(story) == [], "two errors, one of them sent twice, are two"

    machine.kernel_log.xid(4, 94)
    story.wait(lambda: counted(story), "the third error did not count")
    assert len(counted(story)) == 1
    story.nothing_lost()
    story.nothing_given_up()


def test_a_lost_gpu_does_not_wait_for_kinesis(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    refuse_kinesis(cluster, machine)
    fault = story.break_gpu()
    story.wait(story.acting, "the fault did not reach coordinate while Kinesis refused")
    assert cluster.aws.pending_faults(), "Kinesis still refuses"
    cluster.aws.clear_faults()
    story.ends_well(fault)


def test_the_archive_has_every_record_of_both_lanes_once_though_its_writer_dies(
    cluster: LocalCluster, story: Story
) -> None:
    writer, archive = role_of(cluster, "archive"), StackArchive(cluster)
    cluster.aws.kill_caller_next("s3", "PutObject", "after", principal=writer)
    story.wait(lambda: not cluster.aws.pending_faults(), "the archive's writer did not die")
    cluster.aws.fail_next("s3", "PutObject", "AccessDenied", 2, principal=writer)
    story.wait(lambda: not cluster.aws.pending_faults(), "S3 did not refuse")
    put = on_the_stream(cluster)
    sent = sent_by_overflow(cluster)

    def all_archived() -> bool:
        records = archive.records()
        return put.keys() <= {one.id for one in records} and sum(one.lane == "overflow" for one in records) >= sent

    story.wait(all_archived, "a record is not archived")
    archived = archive.records()
    assert (archive.told.wrong, set(Counter(one.id for one in archived).values())) == (0, {1})
    assert {one.id: one.body for one in archived if one.id in put} == put
    assert {one.id for one in archived if one.lane == "faults"} <= on_the_stream(cluster).keys()
    assert sum(one.lane == "overflow" for one in archived) == sent_by_overflow(cluster) > 0


def test_the_archive_has_the_last_version_of_all_that_was_done_and_of_every_policy(
    cluster: LocalCluster, story: Story
) -> None:
    archive = StackArchive(cluster)
    incidents = {one.id: one.model_dump(mode="json", exclude_none=True) for one in cluster.incidents()}
    acts = [json.loads(item["document"]["S"]) for item in items_of(cluster, "IncidentsTable", "ACT#")]
    revisions = {(item["name"]["S"], item["document"]["S"]) for item in items_of(cluster, "PoliciesTable", "rev#")}
    assert incidents
    assert acts
    story.wait(
        lambda: (
            {one.id for one in archive.incidents()} >= {f"{it['id']}:{it['version']:08d}" for it in incidents.values()}
        ),
        "the last version of an incident is not archived",
    )
    told = archive.incidents()
    last = {one.document["id"]: one.document for one in told if one.what == "incident"}
    assert {name: it["timeline"] for name, it in last.items()} == {
        name: it["timeline"] for name, it in incidents.items()
    }
    assert [act for act in acts if act not in [one.document for one in told if one.what == "act"]] == []
    policies = archive.policies()
    assert {(one.document["name"], one.document["document"]) for one in policies if one.what == "policy"} == revisions
    assert {one.document["name"] for one in policies if one.what == "in_force"} == {name for name, _ in revisions}


def refuse_kinesis(cluster: LocalCluster, machine: Machine) -> None:
    """This node's puts are throttled until the faults are cleared; the successor's are not."""
    cluster.aws.fail_next(
        "kinesis",
        "PutRecord",
        "ProvisionedThroughputExceededException",
        100_000,
        principal=NODE_ROLE,
        containing=machine.instance_id,
    )


def seqs_heard(story: Story, machine: Machine) -> int:
    ranges = story.ledger(machine, spool_of(machine).spool_id)
    return sum(last - first + 1 for first, last in ranges)


def counted(story: Story) -> list[str]:
    """The decisions that the counting policy has led to."""
    return [incident.id for incident in story.incidents() if incident.policy.name == NAME]
