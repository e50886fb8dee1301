"""What an incident that knows of nothing but silence may rely on: the silence itself, until the node speaks again.

It must not know who else is asked.
"""

from collections.abc import Sequence
from datetime import datetime

from functions.acts.act import ActContext
from functions.acts.support import moment_of
from functions.ports.heartbeats import Heartbeats
from policies.contract.times import format_time
from policies.contract.vocabulary import Kind
from policies.coordination.notes import FindingNote


def is_only_silent(findings: Sequence[FindingNote]) -> bool:
    """Whether nobody said more of the node than that it is silent: then it may be the agent that is dead."""
    return bool(findings) and all(note.kind is Kind.NODE_SILENT for note in findings)


def why_not_silent(context: ActContext, heartbeats: Heartbeats) -> str:
    """Return that the node spoke after its last sign before the silence, empty while it is silent."""
    heard = heartbeats.last_seen(context.cluster.name, context.node.instance_id)
    if heard is None or heard <= _last_sign(context.findings):
        return ""
    return f"its agent was heard again at {format_time(heard)}"


def _last_sign(findings: Sequence[FindingNote]) -> datetime:
    """Return the newest sign that the silence was counted from; a finding that does not tell it counts from itself."""
    return max(moment_of(note.attributes, "last_seen") or note.observed_at for note in findings)
