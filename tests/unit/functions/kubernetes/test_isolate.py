from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from functions.kubernetes.isolate import Isolate
from functions.ports.kubernetes import CORDONED_BY, INCIDENT, ISOLATED_TAINT, ConflictError, Node, NodeChange, Taint
from functions.twins.kubernetes import MemoryCluster
from policies.contract.errors import DependencyError
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import INCIDENT as OURS
from tests.tools.act_contexts import OTHER, Clock, Drive
from tests.tools.faulty_ports import LosesAnswers
from tests.tools.witnesses import around

NODE = "i-0a"
TAINT = Taint(ISOLATED_TAINT, OURS)
MINE = {INCIDENT: OURS, CORDONED_BY: OURS}


@pytest.fixture
def cluster() -> MemoryCluster:
    node = Node("node-a", "1", NODE, ready=True, taints=(Taint("team", "a"),))
    return MemoryCluster(nodes={"node-a": node})


def driven(connect: Callable[..., Any]) -> Drive:
    clock = Clock()
    return Drive(Isolate(connect=connect, witness=around(clock).witness), clock, node=NODE)


def test_the_node_is_cordoned_and_tainted_once_however_often_it_is_asked(cluster: MemoryCluster) -> None:
    drive = driven(cluster.connect)
    assert [drive().outcome for _ in range(3)] == [{"isolated": "node-a"}] * 3
    node = cluster.nodes["node-a"]
    assert (node.unschedulable, node.taints, node.annotations) == (True, (Taint("team", "a"), TAINT), MINE)
    assert len(cluster.changes) == 1


def test_a_node_that_is_already_gone_needs_nothing() -> None:
    cluster = MemoryCluster()
    report = driven(cluster.connect)()
    assert (report.status, report.outcome) == (RungStatus.DONE, {"isolated": "the node is already gone"})


def test_what_another_incident_left_is_taken_over(cluster: MemoryCluster) -> None:
    cluster.change_node(cluster.nodes["node-a"], NodeChange(True, (Taint(ISOLATED_TAINT, OTHER),)))
    driven(cluster.connect)()
    assert cluster.nodes["node-a"].taints == (TAINT,)


def test_a_lost_answer_leads_to_no_second_change(cluster: MemoryCluster) -> None:
    lossy = LosesAnswers(cluster, "change_node")
    drive = driven(lambda _settings: nullcontext(lossy))
    with pytest.raises(DependencyError):
        drive()
    assert drive().status is RungStatus.DONE
    assert len(cluster.changes) == 1


def test_a_conflict_is_left_to_the_retry_which_looks_again(cluster: MemoryCluster) -> None:
    class Racing(MemoryCluster):
        def node_of(self, instance_id: str, name: str = "") -> Node | None:
            node = super().node_of(instance_id, name)
            if node and not self.changes:
                self.change_node(node, NodeChange(annotations={"by": "somebody"}))
            return node

    racing = Racing(nodes=dict(cluster.nodes))
    drive = driven(racing.connect)
    with pytest.raises(ConflictError):
        drive()
    assert drive().status is RungStatus.DONE
    assert racing.nodes["node-a"].annotations == {"by": "somebody", **MINE}


def test_a_cordon_that_stood_before_is_not_called_ours(cluster: MemoryCluster) -> None:
    cluster.change_node(cluster.nodes["node-a"], NodeChange(unschedulable=True))
    driven(cluster.connect)()
    assert cluster.nodes["node-a"].annotations == {INCIDENT: OURS}
