"""A mended node is let go: what isolate did is taken back, and nothing that somebody else did."""

from contextlib import nullcontext

import pytest

from functions.kubernetes.isolate import Isolate
from functions.kubernetes.release import ReleaseNode
from functions.ports.kubernetes import CORDONED_BY, INCIDENT, ISOLATED_TAINT, Node, NodeChange, Taint
from functions.twins.kubernetes import MemoryCluster
from policies.contract.errors import DependencyError
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import INCIDENT as OURS
from tests.tools.act_contexts import OTHER, Clock, Drive
from tests.tools.faulty_ports import LosesAnswers
from tests.tools.witnesses import around

NODE = "i-0a"
TEAM = Taint("team", "a")


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster(nodes={"node-a": Node("node-a", "1", NODE, ready=True, taints=(TEAM,))})


def isolate(cluster: MemoryCluster, incident: str = OURS) -> None:
    clock = Clock()
    act = Isolate(connect=cluster.connect, witness=around(clock).witness)
    assert Drive(act, clock, node=NODE, incident=incident)().status is RungStatus.DONE


def release(cluster: MemoryCluster) -> Drive:
    return Drive(ReleaseNode(connect=cluster.connect), Clock(), node=NODE)


def test_what_we_did_is_taken_back_once(cluster: MemoryCluster) -> None:
    isolate(cluster)
    drive = release(cluster)
    assert [drive().outcome for _ in range(3)] == [{"released_node": "node-a"}] * 3
    node = cluster.nodes["node-a"]
    assert (node.unschedulable, node.taints, node.annotations) == (False, (TEAM,), {})
    assert len(cluster.changes) == 2


def test_a_cordon_that_a_person_had_made_stays(cluster: MemoryCluster) -> None:
    cluster.change_node(cluster.nodes["node-a"], NodeChange(unschedulable=True))
    isolate(cluster)
    assert release(cluster)().outcome == {"released_node": "node-a", "still_cordoned": True}
    node = cluster.nodes["node-a"]
    assert (node.unschedulable, node.taints) == (True, (TEAM,))


def test_a_node_that_another_incident_has_by_now_is_left_to_it(cluster: MemoryCluster) -> None:
    isolate(cluster)
    isolate(cluster, OTHER)
    assert release(cluster)().outcome["still_cordoned"]
    node = cluster.nodes["node-a"]
    assert Taint(ISOLATED_TAINT, OTHER) in node.taints
    assert (node.unschedulable, node.annotations) == (True, {INCIDENT: OTHER, CORDONED_BY: OTHER})


def test_a_node_that_is_gone_cannot_be_let_go() -> None:
    report = release(MemoryCluster())()
    assert (report.status, "is gone" in report.reason) == (RungStatus.FAILED, True)


def test_a_lost_answer_leads_to_no_second_change(cluster: MemoryCluster) -> None:
    isolate(cluster)
    lossy = LosesAnswers(cluster, "change_node")
    drive = Drive(ReleaseNode(connect=lambda _settings: nullcontext(lossy)), Clock(), node=NODE)
    with pytest.raises(DependencyError):
        drive()
    assert drive().outcome == {"released_node": "node-a"}
    assert len(cluster.changes) == 2
