"""The incident is stored and its execution is not, or it runs and nobody has noted it: the message comes back."""

import json
from typing import Literal

import pytest

from local.demo.cluster import LocalCluster
from tests.tools.stories import Story, role_of, shorten_redelivery


@pytest.mark.parametrize("when", ["before", "after"])
def test_one_execution_works_on_the_incident(
    cluster: LocalCluster, story: Story, when: Literal["before", "after"]
) -> None:
    shorten_redelivery(cluster)
    cluster.aws.kill_caller_next("states", "StartExecution", when, principal=role_of(cluster, "coordinate"))
    (incident,) = story.ends_well(story.break_gpu())
    assert (incident.attempt, incident.outcome) == (1, "replaced")
    assert executions_of(cluster, incident.id) == [(1, "SUCCEEDED")]


def executions_of(cluster: LocalCluster, incident: str) -> list[tuple[int, str]]:
    """(attempt, status) of every execution that was ever started for this incident."""
    states = cluster.aws.client("stepfunctions")
    (machine,) = states.list_state_machines()["stateMachines"]
    listed = states.list_executions(stateMachineArn=machine["stateMachineArn"])["executions"]
    told = [(states.describe_execution(executionArn=one["executionArn"]), one["status"]) for one in listed]
    inputs = [(json.loads(description["input"]), status) for description, status in told]
    return [(given["attempt"], status) for given, status in inputs if given["incident"] == incident]
