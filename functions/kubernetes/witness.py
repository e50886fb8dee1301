"""A second witness: is a node whose agent is silent dead, or only its agent?

Dead is said by EC2 (not running, or a status check impaired) or by Kubernetes (its kubelet does not renew the node's
lease, so that Ready is not True). Where both say the machine is well, the agent is at fault, and no machine is given up
for that. Neither is one that somebody else cordoned: they may be rebooting it.
"""

from dataclasses import dataclass
from datetime import timedelta

from functions.acts.act import ActContext
from functions.acts.silence import why_not_silent
from functions.acts.support import Pace
from functions.ports.heartbeats import Heartbeats
from functions.ports.instances import Instances
from functions.ports.kubernetes import ISOLATED_TAINT, Node
from policies.contract.decisions import RungReport

# Kubernetes marks a node after 50 s without its lease (node-monitor-grace-period, 1.32), and EC2 looks every minute.
PATIENCE = timedelta(seconds=120)


@dataclass(frozen=True)
class Heard:
    """Either who says that the node is dead, or the report that ends or delays the act."""

    dead_by: str = ""
    report: RungReport | None = None


@dataclass(frozen=True)
class Witness:
    """The ports that are asked."""

    instances: Instances
    heartbeats: Heartbeats
    pace: Pace

    def hear(self, context: ActContext, node: Node | None) -> Heard:
        """Ask whether the silent node of *context* is dead. Changes nothing."""
        speaks = why_not_silent(context, self.heartbeats)
        if speaks:
            return Heard(report=context.done(recovered=speaks))
        if node and node.unschedulable and not any(taint.key == ISOLATED_TAINT for taint in node.taints):
            return Heard(report=context.failed(f"node {node.name} was cordoned by somebody else: it is theirs"))
        dead_by = self._dead_by(context, node)
        if dead_by:
            return Heard(dead_by)
        if context.now - context.intended_at < PATIENCE * self.pace.scale:
            return Heard(report=self.pace.wait(context, "nobody but the silence says yet that the node is dead"))
        return Heard(report=context.failed(_agent_fault(context, node)))

    def _dead_by(self, context: ActContext, node: Node | None) -> str:
        instance_id = context.node.instance_id
        instance = self.instances.describe([instance_id]).get(instance_id)
        if instance is None or instance.state != "running":
            return f"EC2: {instance.state if instance else 'unknown'}"
        checks = self.instances.checks(instance_id)
        if checks and "impaired" in {checks.instance, checks.system}:
            return "EC2: its status checks are impaired"
        if node and not node.ready:
            return f"Kubernetes: node {node.name} is not Ready"
        return ""


def _agent_fault(context: ActContext, node: Node | None) -> str:
    """Say what to do: the machine works, so what is silent is the agent, or its way to the stream."""
    told = f"node {node.name} is Ready and" if node else "it has no node in Kubernetes, but"
    return (
        f"the agent of {context.node.instance_id} is silent, {told} EC2's status checks have not failed:"
        " see to the agent (its pod or service, its log, its way to Kinesis); the node was left alone"
    )
