"""What the node's agent keeps: asked for by a command, waited for a little, never waited for in vain.

What only the node can tell (stacks, the ranks' flight recorders, counters) dies with the containers, so the run is
stopped a moment later for it. An agent that takes no such command, or does not begin it soon, holds nothing up; what
it collects after that is in its own folder all the same. It must not know what is collected.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from functions.acts.act import ActContext
from functions.nodes.asking import Asking, Wish
from policies.contract.commands.command import CommandRecord, CommandStatus
from policies.contract.commands.operations import CollectEvidence, Operation
from policies.contract.errors import RelightError
from policies.contract.times import add_seconds

# In seconds of the policy's clock; on the embedded AWS they are shorter, though never under two.
BEGUN_WITHIN = 15.0  # an agent looks every 2 s once it has told of a severe fault
DONE_WITHIN = 75.0  # its own bound for one collection is a minute
_LEAST_SECONDS = 2.0
LOOK_SECONDS = 2.0


@dataclass(frozen=True)
class NodePart:
    """How the node's part stands. ``told`` goes into the manifest; ``waits_for`` is empty when nothing is awaited."""

    told: Mapping[str, Any]
    waits_for: str = ""


class NodeEvidence:
    """Asks by *asking*."""

    def __init__(self, asking: Asking) -> None:
        """Take the port."""
        self._asking = asking

    def look(self, context: ActContext) -> NodePart:
        """Ask once, and say how far it is. It never raises: evidence holds up no repair."""
        pids = {note.attributes.get("pid") for note in context.findings}
        known = sorted(pid for pid in pids if isinstance(pid, int) and not isinstance(pid, bool) and pid > 1)
        wish = Wish(
            Operation.COLLECT_EVIDENCE, CollectEvidence(reason=f"incident {context.incident}", pids=tuple(known[:64]))
        )
        try:
            stands = self._asking.issue(context, [wish])
        except RelightError as error:
            return NodePart({"error": error.message[:500]})
        if isinstance(stands, str):
            return NodePart({"error": stands})
        return self._judge(context, stands[0])

    def _judge(self, context: ActContext, record: CommandRecord) -> NodePart:
        result = record.result
        told = {
            "command": record.command.id,
            "status": str(record.status),
            **({"address": result.address} if result and result.address else {}),
            **({"error": result.reason[:500]} if result and result.reason else {}),
        }
        patience = {CommandStatus.PENDING: BEGUN_WITHIN, CommandStatus.RUNNING: DONE_WITHIN}.get(record.status, 0.0)
        until = add_seconds(context.intended_at, max(_LEAST_SECONDS, patience * self._asking.scale))
        if patience and context.now < min(until, context.deadline):
            return NodePart(told, f"the node's evidence is {record.status}")
        return NodePart(told)
