"""The scheduler: gives a pending pod a node that is ready, lets it on, and has the GPUs it asks for.

It must not know jobs: a gang is placed pod by pod, as the default scheduler does.
"""

from collections import Counter

from local.kubernetes.api import bind
from local.kubernetes.objects import Obj, has_condition, is_terminating, name_of, namespace_of, set_condition
from local.kubernetes.resources import NODES, PODS
from local.kubernetes.store import Store

GPU = "nvidia.com/gpu"
_CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_OVER = frozenset({"Succeeded", "Failed"})


def schedule(store: Store) -> None:
    """Bind every pending pod that fits somewhere; write on the others why they do not."""
    with store.transaction():
        nodes, _ = store.select(NODES)
        pods, _ = store.select(PODS)
        used = _gpus_in_use(pods)
        for pod in pods:
            if pod["spec"].get("nodeName") or is_terminating(pod) or pod["status"]["phase"] != "Pending":
                continue
            refusals = {name_of(node): why_not(pod, node, used[name_of(node)]) for node in nodes}
            fitting = [name for name, refusal in refusals.items() if not refusal]
            if fitting:
                _bind(store, pod, fitting[0])
                used[fitting[0]] += gpus_of(pod)
            else:
                _explain(store, pod, Counter(refusals.values()))


def _gpus_in_use(pods: list[Obj]) -> Counter[str]:
    used: Counter[str] = Counter()
    for pod in pods:
        if pod["spec"].get("nodeName") and pod["status"]["phase"] not in _OVER:
            used[pod["spec"]["nodeName"]] += gpus_of(pod)
    return used


def gpus_of(pod: Obj) -> int:
    """How many GPUs all containers of the pod ask for."""
    wanted = [container.get("resources", {}) for container in pod["spec"]["containers"]]
    return sum(int((entry.get("limits") or entry.get("requests") or {}).get(GPU, 0)) for entry in wanted)


def why_not(pod: Obj, node: Obj, gpus_used: int) -> str:
    """Why this pod cannot go to this node, in the words of the real scheduler; empty when it can."""
    spec = node.get("spec", {})
    taints = [*spec.get("taints", []), *([_CORDONED] if spec.get("unschedulable") else [])]
    for taint in taints:
        if taint["effect"] != "PreferNoSchedule" and not tolerates(pod, taint):
            if taint is _CORDONED:
                return "node(s) were unschedulable"
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    labels = node["metadata"].get("labels", {})
    if any(labels.get(key) != value for key, value in pod["spec"].get("nodeSelector", {}).items()):
        return "node(s) didn't match Pod's node affinity/selector"
    if not has_condition(node, "Ready"):
        return "node(s) were not ready"
    free = int(node.get("status", {}).get("allocatable", {}).get(GPU, 0)) - gpus_used
    return "" if gpus_of(pod) <= free else f"Insufficient {GPU}"


def tolerates(pod: Obj, taint: Obj) -> bool:
    """Whether one of the pod's tolerations matches the taint (operator Equal by default; an empty key matches all)."""
    return any(_matches(toleration, taint) for toleration in pod["spec"].get("tolerations", []))


def _matches(toleration: Obj, taint: Obj) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    exists = str(toleration.get("operator", "Equal")) == "Exists"
    if not toleration.get("key"):
        return exists
    if toleration["key"] != taint["key"]:
        return False
    return exists or bool(toleration.get("value", "") == taint.get("value", ""))


def _bind(store: Store, pod: Obj, node: str) -> None:
    bind(store, namespace_of(pod), name_of(pod), node)
    _set_scheduled(store, pod, {"type": "PodScheduled", "status": "True"})


def _explain(store: Store, pod: Obj, refusals: Counter[str]) -> None:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(refusals.items()))
    message = f"0/{refusals.total()} nodes are available: {reasons}." if refusals else "no nodes available"
    wanted = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    _set_scheduled(store, pod, wanted)


def _set_scheduled(store: Store, pod: Obj, wanted: Obj) -> None:
    def change(current: Obj) -> Obj:
        set_condition(current, wanted, store.now())
        return current

    store.update(PODS, namespace_of(pod), name_of(pod), change, subresource="status")
