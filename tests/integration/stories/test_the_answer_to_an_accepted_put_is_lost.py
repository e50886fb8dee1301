"""Kinesis has the envelope and the publisher does not know: it sends it again, and triage knows the numbers."""

from local.demo.cluster import LocalCluster
from local.fleet.infrastructure import NODE_ROLE
from tests.tools.stories import Story


def test_the_fault_arrives_twice_and_counts_once(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    cluster.aws.drop_answer("kinesis", "PutRecord", 2, principal=NODE_ROLE, containing='"gpu.xid"')
    fault = story.break_gpu()
    (incident,) = story.ends_well(fault)
    assert len(incident.findings) == 1
    sent = [record for record in story.records() if machine.instance_id.encode() in record and b'"gpu.xid"' in record]
    assert len(sent) >= 3
