"""Fence a node that may be dead: nothing may run on it any more before its pods are forced away and others take over.

An instance of an Auto Scaling group is given up for good (the group launches its successor); any other is stopped by
force, which keeps its disks. Done only when EC2 says terminated or stopped: shutting down, it may still write.
"""

from functions.acts.act import ActContext
from functions.acts.support import Pace
from functions.instances.groups import group_of, why_not_ours
from functions.ports.instances import GONE, Instances
from policies.contract.decisions import RungReport
from policies.contract.times import format_time


class FenceNode:
    """The act."""

    def __init__(self, *, instances: Instances, pace: Pace) -> None:
        """Take the port."""
        self._instances = instances
        self._pace = pace

    def advance(self, context: ActContext) -> RungReport:
        """End the instance unless it is ending. Outcome: fenced_at, group."""
        node = context.node.instance_id
        instance = self._instances.describe([node]).get(node)
        membership = self._instances.membership(node)
        group = group_of(context, instance, membership)
        facts = {"fenced_at": format_time(context.now), **({"group": group} if group else {})}
        if instance is None or instance.state in GONE:
            return context.done(**facts)
        if instance.state in {"pending", "running"}:
            foreign = why_not_ours(context, group) if membership else ""
            if foreign:
                return context.failed(foreign)
            if membership is None:
                self._instances.stop(node)
            elif not membership.leaving:
                self._instances.replace(node)
        return self._pace.wait(context, f"{node} is not gone yet (it was {instance.state})", **facts)
