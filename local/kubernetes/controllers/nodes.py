"""Node lifecycle: a silent node becomes NotReady, a node whose instance is gone is deleted, and its pods with it.

Follows three loops of Kubernetes: the node lifecycle controller (Ready=Unknown and the unreachable taints after the
grace period), the cloud node lifecycle controller (deletes nodes of terminated instances), the pod garbage collector
(forces away pods of nodes that are not there).
"""

from collections.abc import Callable
from datetime import datetime

from local.kubernetes import pods as pod_rules
from local.kubernetes.controllers.world import Machines, Timings
from local.kubernetes.objects import Obj, condition, name_of, namespace_of, set_condition
from local.kubernetes.resources import NODES, PODS
from local.kubernetes.store import Store

UNREACHABLE = "node.kubernetes.io/unreachable"


class NodeLifecycle:
    """Remembers since when each node was silent, in the store's time."""

    def __init__(self, store: Store, machines: Machines, timings: Timings) -> None:
        self._store = store
        self._machines = machines
        self._timings = timings
        self._last_heard: dict[str, datetime] = {}

    def run(self) -> None:
        """Look at every node once."""
        nodes, _ = self._store.select(NODES)
        for node in nodes:
            name = name_of(node)
            if self._machines.is_powered(name):
                self._last_heard[name] = self._store.now()
                self._set_ready(node, "True")
            elif not self._machines.exists(node.get("spec", {}).get("providerID", "")):
                self._store.delete(NODES, "", name)
            elif self._silent_for(name) >= self._timings.not_ready_after:
                self._set_ready(node, "Unknown")
        self._collect_orphans()

    def _silent_for(self, name: str) -> float:
        return (self._store.now() - self._last_heard.setdefault(name, self._store.now())).total_seconds()

    def _set_ready(self, node: Obj, status: str) -> None:
        current = condition(node, "Ready")
        if current is not None and current["status"] == status:
            return
        reason = "KubeletReady" if status == "True" else "NodeStatusUnknown"
        message = "kubelet is posting ready status" if status == "True" else "Kubelet stopped posting node status."
        wanted = {"type": "Ready", "status": status, "reason": reason, "message": message}
        self._store.update(NODES, "", name_of(node), _with_ready(wanted, self._store.now()), subresource="status")
        self._store.update(NODES, "", name_of(node), _with_taint(present=status != "True"))

    def _collect_orphans(self) -> None:
        with self._store.transaction():
            names = {name_of(node) for node in self._store.select(NODES)[0]}
            for pod in self._store.select(PODS)[0]:
                if pod["spec"].get("nodeName") and pod["spec"]["nodeName"] not in names:
                    pod_rules.delete(self._store, namespace_of(pod), name_of(pod), grace=0)


def _with_ready(wanted: Obj, at: datetime) -> Callable[[Obj], Obj]:
    def change(node: Obj) -> Obj:
        set_condition(node, wanted, at)
        return node

    return change


def _with_taint(*, present: bool) -> Callable[[Obj], Obj]:
    def change(node: Obj) -> Obj:
        others = [taint for taint in node.setdefault("spec", {}).get("taints", []) if taint["key"] != UNREACHABLE]
        added = [{"key": UNREACHABLE, "effect": effect} for effect in ("NoSchedule", "NoExecute")] if present else []
        if others or added or "taints" in node["spec"]:
            node["spec"]["taints"] = [*others, *added]
        return node

    return change
