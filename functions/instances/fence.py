"""Fence a node that may be dead: nothing may run on it any more before its pods are forced away and others take over.

An instance of an Auto Scaling group is given up for good (the group launches its successor); any other is stopped by
force, which keeps its disks. Done only when EC2 says terminated or stopped: shutting down, it may still write. A node
that was only silent is ended only if a second witness agreed that it is dead, and if it has not spoken since.
"""

from functions.acts.act import ActContext
from functions.acts.silence import is_only_silent, why_not_silent
from functions.acts.support import Pace, text_of
from functions.instances.groups import group_of, why_not_ours
from functions.ports.heartbeats import Heartbeats
from functions.ports.instances import GONE, Instance, Instances
from policies.contract.decisions import RungReport
from policies.contract.times import format_time


class FenceNode:
    """The act."""

    def __init__(self, *, instances: Instances, heartbeats: Heartbeats, pace: Pace) -> None:
        """Take the ports."""
        self._instances = instances
        self._heartbeats = heartbeats
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
            spared = foreign or self._why_spared(context, instance)
            if spared:
                return context.failed(spared)
            if membership is None:
                self._instances.stop(node)
            elif not membership.leaving:
                self._instances.replace(node)
        return self._pace.wait(context, f"{node} is not gone yet (it was {instance.state})", **facts)

    def _why_spared(self, context: ActContext, instance: Instance) -> str:
        """Return why a node of which nothing but silence is known may not be ended; once begun, it is gone through."""
        if not is_only_silent(context.findings) or context.progress:
            return ""
        speaks = why_not_silent(context, self._heartbeats)
        if speaks:
            return f"{instance.id} was not ended: {speaks}; it is isolated still, uncordon it when you have looked"
        checks = self._instances.checks(instance.id)
        is_impaired = checks is not None and "impaired" in {checks.instance, checks.system}
        if is_impaired or text_of(context.facts, "dead_by"):
            return ""
        return f"{instance.id} was not ended: its agent is silent, and nobody else says that it is dead"
