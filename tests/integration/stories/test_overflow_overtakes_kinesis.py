"""Kinesis refuses for a while: severe events go through SQS and overtake the others, and every one counts once."""

from typing import Any

import pytest

from local.demo.cluster import LocalCluster
from local.fleet.infrastructure import NODE_ROLE
from local.fleet.machines import Machine
from tests.tools.stories import Story, put_policy, spool_of

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
    assert len(spool_of(machine).waiting) == 1, "the warning waits for Kinesis: it was overtaken"
    assert counted(story) == []

    cluster.aws.clear_faults()
    story.wait(
        lambda: len(spool_of(machine).waiting) == 0, "Kinesis takes again and the warning still waits", seconds=30
    )
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
