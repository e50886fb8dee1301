"""What a node can be cured of costs no node: its agent resets the GPU, or ends the process, because it was asked to."""

import signal
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from functions.adapters.facts import DynamoFacts
from functions.ports.facts import FactKey
from local.demo.acts import Acts
from local.demo.cluster import LocalCluster
from local.fleet.kernel_log import pci_of
from local.fleet.machines import Machine
from local.kubernetes.resources import NODES
from policies.contract.events import Scalar
from policies.coordination.incident import Incident
from policies.facts.fact import About
from policies.facts.history import HISTORY
from tests.tools.envelopes import event
from tests.tools.stories import CLOSE_SECONDS, Story

XID_48, XID_94 = "xid-48-double-bit-error", "xid-94-contained-memory-error"
POLICIES = frozenset({XID_48, XID_94, "xid-79-fell-off-the-bus"})
GPU = 3


def closed(story: Story, policy: str) -> Incident:
    """The one incident of *policy* in this story, once it is closed."""
    found: list[Incident] = []

    def is_closed() -> bool:
        found[:] = [one for one in story.incidents() if one.policy.name == policy and one.status != "closed"]
        assert [one.reason for one in found if one.status == "parked"] == []
        found[:] = [one for one in story.incidents() if one.policy.name == policy and one.fence]
        return bool(found) and all(one.status == "closed" for one in found)

    story.wait(is_closed, f"no incident of {policy} closed", CLOSE_SECONDS)
    (incident,) = found
    return incident


def done(story: Story) -> Acts:
    now = story._acts()
    before = story.acts
    return Acts(
        now.endings - before.endings, now.suspensions - before.suspensions, now.resumptions - before.resumptions
    )


def known(cluster: LocalCluster, incident: Incident) -> Mapping[str, Scalar]:
    """Return what a policy would be told of the node's past now."""
    reader = DynamoFacts(cluster.aws.client("dynamodb"), cluster.outputs["FleetTable"])
    key = FactKey(incident.cluster, HISTORY.name, incident.node.instance_id)
    about = About(event(), incident.node, datetime.now(UTC))
    return HISTORY.answer(HISTORY.parse(reader.read([key])[key]), about)


def resets(machine: Machine) -> list[str]:
    path = machine.folder / "resets"
    return path.read_text().splitlines() if path.exists() else []


def test_a_gpu_with_a_double_bit_error_is_reset_and_the_run_goes_on_on_the_same_node(
    cluster: LocalCluster, story: Story
) -> None:
    machine = story.machine()
    cluster.fleet.break_gpu(machine.instance_id, gpu=GPU, xid=48)
    incident = closed(story, XID_48)
    assert (incident.outcome, incident.turn) == ("recovered", 0)
    assert incident.facts["reset_gpus"] == [pci_of(GPU)]
    assert incident.facts["verified_node"] == incident.facts["released_node"] == machine.name
    assert resets(machine) == [f"{pci_of(GPU)}.0"]
    assert done(story) == Acts(endings=0, suspensions=1, resumptions=1)
    node = cluster.kubernetes.store.get(NODES, "", machine.name)
    assert not node["spec"].get("unschedulable")
    assert [taint["key"] for taint in node["spec"].get("taints", [])] == []
    step = incident.facts["chosen_step"]
    assert incident.facts["confirmed_step"] > step
    story.wait(lambda: cluster.training.step > step, f"the job does not train past step {step}")
    facts = known(cluster, incident)
    asked = ("node.incidents_7d", "node.repairs_7d", "node.jobs_stopped_28d", "node.lemon_score")
    assert {member: facts.get(member) for member in asked} == dict(zip(asked, (1, 1, 1, 20), strict=True))
    story.nothing_lost()
    story.nothing_given_up()


SLOW = """#!/bin/sh
case "$*" in
    *--gpu-reset*) echo "$3" >> '{resets}'; exec sleep 60 ;;
esac
"""


@pytest.fixture
def slow(story: Story) -> Machine:
    """Another machine, whose GPU takes forever to reset; on the first one it would be the same occurrence still."""
    machine = story.machine(2)
    program = Path(machine.gpu_tools.programs) / "nvidia-smi"
    program.write_text(SLOW.format(resets=machine.folder / "asked"))
    return machine


def test_an_agent_that_dies_in_the_middle_of_a_reset_does_not_reset_again_and_the_node_is_replaced(
    cluster: LocalCluster, story: Story, slow: Machine
) -> None:
    asked = slow.folder / "asked"
    cluster.fleet.break_gpu(slow.instance_id, gpu=GPU, xid=48)
    story.wait(asked.exists, "the reset was not begun", CLOSE_SECONDS)
    cluster.fleet.kill_agent(slow)
    incident = closed(story, XID_48)
    assert asked.read_text().splitlines() == [f"{pci_of(GPU)}.0"]
    assert (incident.outcome, incident.turn) == ("replaced", 1)
    reasons = [entry.detail for entry in incident.timeline if entry.stage == "escalated"]
    assert len(reasons) == 1
    assert "the agent ended in the middle of it; nobody can tell whether the GPU was reset" in reasons[0]
    assert done(story) == Acts(endings=1, suspensions=1, resumptions=1)


def test_the_process_that_touched_broken_memory_is_ended_and_nothing_else(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    rank = cluster.ranks.of_node(machine.name)
    assert rank is not None
    others = [one.name for one in cluster.room if one.is_on and one.name != machine.name]
    who = f"pid={rank.process.pid}, name=python3"
    machine.kernel_log.write(f"NVRM: Xid (PCI:{pci_of(GPU)}): 94, {who}, Contained: SM (0x1). RST: No, D-RST: No")
    incident = closed(story, XID_94)
    assert (incident.outcome, incident.turn) == ("recovered", 0)
    assert rank.process.wait(60) == -signal.SIGTERM
    assert done(story) == Acts(endings=0, suspensions=0, resumptions=0)
    alive = [cluster.ranks.of_node(name) for name in others]
    assert [one for one in alive if one is None or one.process.poll() is not None] == []
    starts = len(cluster.training.record.starts)
    cluster.kubernetes.kubelets.fail(cluster.site.namespace, rank.member.name, 143)  # the container ends with it
    story.wait(lambda: len(cluster.training.record.starts) > starts, "its launcher did not start the job again")
    story.nothing_given_up()
