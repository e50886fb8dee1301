"""The finding is in the queue and the worker dies: nothing of the batch is committed, so it comes again."""

from local.demo.cluster import LocalCluster
from tests.tools.stories import Story, role_of


def test_the_finding_is_sent_and_the_state_of_the_node_is_not_written(cluster: LocalCluster, story: Story) -> None:
    role = role_of(cluster, "triage")
    cluster.aws.kill_caller_next("sqs", "SendMessage", "after", principal=role, containing="gpu.xid")
    fault = story.break_gpu()
    (incident,) = story.ends_well(fault)
    assert len(incident.findings) == 1


def test_the_state_of_the_node_is_written_and_the_batch_is_not_finished(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    role, window = role_of(cluster, "triage"), f"NODE#{machine.instance_id}#window"
    cluster.aws.kill_caller_next("dynamodb", "PutItem", "after", principal=role, containing=window)
    fault = story.break_gpu()
    (incident,) = story.ends_well(fault)
    assert len(incident.findings) == 1
