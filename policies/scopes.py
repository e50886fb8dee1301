"""Scopes wider than a node: which job, rack, switch or cluster an event counts for.

Decides their keys. A rack is the innermost network node that its path names (on AWS the third layer, the one next to
the instance: EC2 user guide, "Amazon EC2 topology"), a switch the one above. What is not known is no scope.
"""

from policies.contract.decisions import WideScope
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.identifiers import stable_id

WIDE: tuple[WideScope, ...] = ("job", "rack", "switch", "cluster")
BY_PATH: frozenset[WideScope] = frozenset({"rack", "switch"})
LONGEST_NAME = 256  # bytes: a sort key of DynamoDB has at most 1,024


def scope_key(per: WideScope, node: NodeIdentity, job: JobRef | None) -> str | None:
    """Return ``job:train/llm``, ``rack:nn-0a1b``, ``switch:nn-0c2d`` or ``cluster``; None when that is not known."""
    if per == "cluster":
        return "cluster"
    if per == "job":
        return f"job:{_short(job.id)}" if job else None
    path = node.network_path
    if per == "rack":
        return f"rack:{_short(path[-1])}" if path else None
    return f"switch:{_short(path[-2])}" if len(path) > 1 else None


def scope_name(scope: str, cluster: str) -> str:
    """Return *scope* as people call it: ``rack nn-0a1b``, ``cluster west``."""
    per, _, name = scope.partition(":")
    return f"{per} {name or cluster}"


def stand_in(scope: str, node: NodeIdentity) -> NodeIdentity:
    """Return what names the *scope* that *node* is in where others name a node: no act can take it for an instance."""
    depth = {"rack": len(node.network_path), "switch": len(node.network_path) - 1}.get(scope.partition(":")[0], 0)
    return NodeIdentity(
        cluster=node.cluster,
        name=scope_name(scope, node.cluster),
        instance_id=scope,
        network_path=node.network_path[:depth],
    )


def _short(name: str) -> str:
    return name if len(name.encode("utf-8", "replace")) <= LONGEST_NAME else stable_id(name)
