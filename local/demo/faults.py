"""The faults that the demo can tell of: how each is done to the fleet, and what must have come of it in the end.

Pure but for `break_` functions, which only call the cluster. What is expected is held against Relight's account and the
simulator's own by `report.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from local.demo.cluster import LocalCluster
from local.demo.expected import Expected
from local.demo.report import STAGES
from local.fleet.fleet import Fault

_CHECKPOINTS_FIRST = 2
PLACE = 3  # which node of the fleet
_OF_A_NODE = frozenset({"isolated", "instance_replaced", "node_verified"})
_RUN_STAGES = tuple(stage for stage in STAGES if stage not in _OF_A_NODE)


@dataclass(frozen=True)
class Story:
    """One fault: what it is called, how it is done, what is expected, and how long agents wait for a beat."""

    name: str
    says: str
    break_: Callable[[LocalCluster], Fault]
    expected: Expected
    hang_after_seconds: float = 120.0  # a busy machine is no hang


def _break_gpu(cluster: LocalCluster) -> Fault:
    """Let a GPU fall off the bus in the middle of a save, when there are complete checkpoints to go back to."""
    cluster.wait_for_checkpoints(_CHECKPOINTS_FIRST)
    cluster.wait_for_save_under_way()
    return cluster.break_gpu(PLACE)


def _lose_efa(cluster: LocalCluster) -> Fault:
    cluster.wait_for_checkpoints(_CHECKPOINTS_FIRST)
    cluster.wait_for_save_under_way()
    return cluster.fleet.lose_efa(cluster.instance_at(PLACE))


def _freeze(cluster: LocalCluster) -> Fault:
    cluster.wait_for_checkpoints(_CHECKPOINTS_FIRST)
    cluster.wait_for_save_under_way()
    return cluster.fleet.freeze(cluster.instance_at(PLACE))


def _hang(cluster: LocalCluster) -> Fault:
    cluster.wait_for_checkpoints(_CHECKPOINTS_FIRST)
    cluster.wait_for_steps_between_saves()
    return cluster.fleet.hang_rank(cluster.instance_at(PLACE), cluster.ranks)


def _run_out_of_memory(cluster: LocalCluster) -> Fault:
    cluster.wait_for_checkpoints(_CHECKPOINTS_FIRST)
    cluster.wait_for_steps_between_saves()
    return cluster.fleet.kill_rank_for_memory(cluster.instance_at(PLACE), cluster.ranks)


STORIES: Mapping[str, Story] = {
    story.name: story
    for story in (
        Story(
            "xid",
            "a GPU falls off the bus, and the driver says so",
            _break_gpu,
            Expected(policy="xid-79-fell-off-the-bus", stages=STAGES, replaces_node=True),
        ),
        Story(
            "hang",
            "a rank stops in mid-step, and all others wait for it",
            _hang,
            Expected(policy="training-stalled", stages=_RUN_STAGES, replaces_node=False),
            hang_after_seconds=4.0,
        ),
        Story(
            "oom",
            "a rank's container hits its memory limit, and the kernel kills it",
            _run_out_of_memory,
            Expected(policy="container-out-of-memory", stages=_RUN_STAGES, replaces_node=False),
        ),
        Story(
            "silent",
            "a machine hangs with no last word",
            _freeze,
            Expected(policy="node-silent", stages=STAGES, replaces_node=True, agents_speak=False),
        ),
        Story(
            "efa",
            "a network adapter vanishes",
            _lose_efa,
            Expected(policy="efa-device-missing", stages=STAGES, replaces_node=True),
        ),
    )
}
DEFAULT = "xid"
