"""Which kinds of object the API server holds, and what is special about each.

A new kind is one line in `KINDS`. It must not know how objects are stored.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResourceType:
    """One kind. `group` is empty for the core group."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    subresources: frozenset[str] = frozenset()
    # Kubernetes counts `metadata.generation` for custom resources and most workloads, not for nodes and pods.
    counts_generation: bool = False
    # Custom resources know no strategic merge: the real server answers 415.
    is_custom: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The name in messages: `nodes`, `pytorchjobs.kubeflow.org`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_STATUS = frozenset({"status"})
NODES = ResourceType("", "v1", "nodes", "Node", namespaced=False, subresources=_STATUS)
PODS = ResourceType("", "v1", "pods", "Pod", subresources=frozenset({"status", "eviction", "binding"}))
EVENTS = ResourceType("", "v1", "events", "Event")
NAMESPACES = ResourceType("", "v1", "namespaces", "Namespace", namespaced=False, subresources=_STATUS)
CONFIG_MAPS = ResourceType("", "v1", "configmaps", "ConfigMap")
BUDGETS = ResourceType(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", subresources=_STATUS, counts_generation=True
)
PYTORCH_JOBS = ResourceType(
    "kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", subresources=_STATUS, counts_generation=True, is_custom=True
)

KINDS: tuple[ResourceType, ...] = (NODES, PODS, EVENTS, NAMESPACES, CONFIG_MAPS, BUDGETS, PYTORCH_JOBS)


def find(group: str, version: str, plural: str) -> ResourceType | None:
    """The kind at this place of the API; None when the server has none."""
    found = [kind for kind in KINDS if (kind.group, kind.version, kind.plural) == (group, version, plural)]
    return found[0] if found else None
