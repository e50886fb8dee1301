"""Twelve nodes say within seconds that a server of files stalls: one incident, one page, and no node pays for it."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from local.demo.cluster import LocalCluster
from policies.contract.times import format_time
from policies.coordination.incident import Incident
from tests.tools.stories import CLOSE_SECONDS, Story, role_of, shorten_redelivery

NODES = 12
POLICY = "shared-storage-stalled"
POLICIES = frozenset({POLICY, "storage-stalled-on-a-node", "xid-79-fell-off-the-bus"})


def test_twelve_nodes_are_one_incident_and_one_page_and_none_is_replaced(cluster: LocalCluster, story: Story) -> None:
    for first in range(0, NODES, 4):  # as agents send: each by itself, not all at once
        put(cluster, [stalled(cluster, "first", number) for number in range(first, first + 4)], together=False)
    incident = told_once(story)
    assert (incident.status, incident.outcome, incident.node.instance_id) == ("closed", "recorded", "cluster")
    assert incident.policy.name == POLICY
    story.wait(lambda: counted(cluster) == NODES, "not all nodes were counted", CLOSE_SECONDS)
    nobody_pays(cluster, story)


@pytest.mark.parametrize("when", ["before", "after"])
def test_coordinate_dies_between_the_incident_and_what_is_counted_and_there_is_still_one(
    cluster: LocalCluster, story: Story, when: Literal["before", "after"]
) -> None:
    forget(cluster, story)
    shorten_redelivery(cluster)
    role = role_of(cluster, "coordinate")
    cluster.aws.kill_caller_next("dynamodb", "PutItem", when, principal=role, containing=f"WINDOW#{POLICY}")
    put(cluster, [stalled(cluster, when, number) for number in range(NODES)], together=True)
    told_once(story)
    story.wait(lambda: counted(cluster) == NODES, "not all nodes were counted", CLOSE_SECONDS)
    assert cluster.aws.pending_faults() == [], "what was to go wrong did not"
    nobody_pays(cluster, story)


def test_triage_dies_before_its_commit_and_each_node_counts_once(cluster: LocalCluster, story: Story) -> None:
    forget(cluster, story)
    role = role_of(cluster, "triage")
    cluster.aws.kill_caller_next("sqs", "SendMessage", "after", principal=role, containing=POLICY)
    put(cluster, [stalled(cluster, "triage", number) for number in range(NODES)], together=True)
    told_once(story)
    story.wait(lambda: counted(cluster) == NODES, "not all nodes were counted", CLOSE_SECONDS)
    assert cluster.aws.pending_faults() == [], "what was to go wrong did not"
    assert sum(point[2] for point in window(cluster)["counter"][1]) == NODES
    nobody_pays(cluster, story)


def told_once(story: Story) -> Incident:
    """The one incident about the cluster, once its page is out."""
    story.wait(lambda: pages(story), "nobody was paged", CLOSE_SECONDS)
    (incident,) = (each for each in story.incidents() if each.policy.name == POLICY)
    assert [entry.alert for entry in incident.timeline if entry.alert != "none"] == ["page"]
    return incident


def pages(story: Story) -> list[str]:
    return [each.id for each in story.incidents() if any(entry.alert == "page" for entry in each.timeline)]


def nobody_pays(cluster: LocalCluster, story: Story) -> None:
    assert len(pages(story)) == 1
    assert len(cluster.room) == story.machines
    story.acted_on_nothing()
    story.nothing_given_up()


def stalled(cluster: LocalCluster, story: str, number: int) -> dict[str, Any]:
    """What the agent of a node that has no machine here sends."""
    now = format_time(datetime.now(UTC))
    return {
        "schema_version": 1,
        "node": {
            "cluster": cluster.site.cluster,
            "name": f"ip-10-9-0-{number}.ec2.internal",
            "instance_id": f"i-{number:017x}",
            "instance_type": "p5.48xlarge",
        },
        "spool_id": f"{story}-{number}",
        "first_seq": 0,
        "sent_at": now,
        "events": [
            {
                "id": f"{story}-{number}".encode().hex().ljust(32, "0")[:32],
                "seq": 0,
                "kind": "storage.nfs_stalled",
                "severity": "error",
                "source": "filesystem",
                "observed_at": now,
                "first_observed_at": now,
                "component": {"type": "mount"},
                "attributes": {"mount": "/data", "server": "fs-1"},
                "message": "/data of fs-1 does not answer",
            }
        ],
    }


def put(cluster: LocalCluster, envelopes: Sequence[dict[str, Any]], *, together: bool) -> None:
    """On one shard and in one batch, or each by the key of its node."""
    entries = [
        {"Data": json.dumps(one).encode(), "PartitionKey": "together" if together else one["node"]["instance_id"]}
        for one in envelopes
    ]
    answer = cluster.aws.client("kinesis").put_records(StreamName=cluster.outputs["FaultsStream"], Records=entries)
    assert answer["FailedRecordCount"] == 0


def key(cluster: LocalCluster, sort: str) -> dict[str, Any]:
    return {"pk": {"S": f"CLUSTER#{cluster.site.cluster}"}, "sk": {"S": sort}}


def window(cluster: LocalCluster) -> dict[str, Any]:
    """What coordinate has counted."""
    table = cluster.outputs["FleetTable"]
    sort = f"WINDOW#{POLICY}|cluster"
    item = cluster.aws.client("dynamodb").get_item(TableName=table, Key=key(cluster, sort), ConsistentRead=True)
    found: dict[str, Any] = json.loads(item["Item"]["document"]["S"]) if "Item" in item else {}
    return found


def counted(cluster: LocalCluster) -> int:
    return len(window(cluster).get("tellers", {}))


def forget(cluster: LocalCluster, story: Story) -> None:
    """Each story begins with a calm cluster, as if the last storm were hours ago, and nothing of it were to come."""
    story.wait(lambda: decisions(cluster) == 0, "messages for coordinate are still to come", CLOSE_SECONDS)
    for sort in (f"WINDOW#{POLICY}|cluster", f"NODE#scope#{POLICY}#cluster#lease"):
        cluster.aws.client("dynamodb").delete_item(TableName=cluster.outputs["FleetTable"], Key=key(cluster, sort))


def decisions(cluster: LocalCluster) -> int:
    """Messages that coordinate has or will have."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    sqs, queue = cluster.aws.client("sqs"), cluster.outputs["DecisionsQueueUrl"]
    return sum(map(int, sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"].values()))
