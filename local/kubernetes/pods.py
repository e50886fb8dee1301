"""What is special about pods: defaults, a spec that stays, deletion with grace, eviction under disruption budgets.

It must not know HTTP, nor when a kubelet really stops a pod.
"""

import math
import re

from local.kubernetes.errors import invalid, too_many_requests
from local.kubernetes.objects import Obj, has_condition, is_terminating, namespace_of
from local.kubernetes.resources import BUDGETS, PODS
from local.kubernetes.selectors import match_labels
from local.kubernetes.store import Preconditions, Store

DEFAULT_GRACE_SECONDS = 30
# The admission plugin DefaultTolerationSeconds: five minutes on a node that is not ready or not reachable.
_DEFAULT_TOLERATIONS = tuple(
    {"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for why in ("not-ready", "unreachable")
)
_OVER = frozenset({"Succeeded", "Failed"})


def with_defaults(pod: Obj) -> Obj:
    """The pod as the API server would complete it: pending, with grace period, restart policy and tolerations."""
    spec = {"terminationGracePeriodSeconds": DEFAULT_GRACE_SECONDS, "restartPolicy": "Always", **pod.get("spec", {})}
    if not spec.get("containers"):
        raise invalid(PODS, pod.get("metadata", {}).get("name", ""), "spec.containers: Required value")
    known = {toleration.get("key") for toleration in spec.get("tolerations", [])}
    added = [dict(toleration) for toleration in _DEFAULT_TOLERATIONS if toleration["key"] not in known]
    spec["tolerations"] = [*spec.get("tolerations", []), *added]
    return {**pod, "spec": spec, "status": {"phase": "Pending"}}


def check_spec(name: str, old: Obj, new: Obj) -> None:
    """Invalid when an update touches more of the spec than a pod allows: images, and more tolerations."""
    kept = old["spec"].get("tolerations", [])
    if _fixed_part(old) != _fixed_part(new) or any(one not in new["spec"].get("tolerations", []) for one in kept):
        raise invalid(
            PODS, name, "spec: Forbidden: pod updates may not change fields other than images and tolerations"
        )


def _fixed_part(pod: Obj) -> Obj:
    containers = [{**container, "image": ""} for container in pod["spec"].get("containers", [])]
    return {**pod["spec"], "containers": containers, "tolerations": []}


def delete(store: Store, namespace: str, name: str, *, grace: int | None, only_if: Preconditions | None = None) -> Obj:
    """Delete as a client does: marked for the kubelet, or gone at once when nothing runs or *grace* is 0.

    A second delete may shorten the grace period, never lengthen it.
    """
    with store.transaction():
        pod = store.get(PODS, namespace, name)
        if _grace_of(pod, grace) == 0:
            return store.delete(PODS, namespace, name, only_if)
        store.check(PODS, namespace, name, only_if or Preconditions())
        if is_terminating(pod) and pod["metadata"]["deletionGracePeriodSeconds"] <= _grace_of(pod, grace):
            return pod
        return store.mark_deleted((PODS, namespace, name), grace=_grace_of(pod, grace))


def _grace_of(pod: Obj, asked: int | None) -> int:
    if not pod["spec"].get("nodeName") or pod["status"]["phase"] in _OVER:
        return 0
    return int(pod["spec"]["terminationGracePeriodSeconds"]) if asked is None else max(0, asked)


def evict(store: Store, namespace: str, name: str, *, grace: int | None, only_if: Preconditions | None) -> None:
    """Delete the pod unless a PodDisruptionBudget forbids it: then 429, and the caller tries again later."""
    with store.transaction():
        pod = store.get(PODS, namespace, name)
        if not (is_terminating(pod) or pod["status"]["phase"] in _OVER):
            _check_budgets(store, pod)
        delete(store, namespace, name, grace=grace, only_if=only_if)


def _check_budgets(store: Store, pod: Obj) -> None:
    budgets, _ = store.select(BUDGETS, namespace_of(pod))
    for budget in budgets:
        if not match_labels(budget["spec"].get("selector"))(pod):
            continue
        if disruptions_allowed(store, budget) < 1:
            cause = {
                "reason": "DisruptionBudget",
                "message": f"The disruption budget {budget['metadata']['name']} does not allow another disruption now",
            }
            raise too_many_requests(
                "Cannot evict pod as it would violate the pod's disruption budget.", {"causes": [cause]}
            )


def disruptions_allowed(store: Store, budget: Obj) -> int:
    """How many of the budget's pods may go now."""
    pods, _ = store.select(PODS, namespace_of(budget), match_labels(budget["spec"].get("selector")))
    healthy = sum(has_condition(pod, "Ready") and not is_terminating(pod) for pod in pods)
    if "minAvailable" in budget["spec"]:
        return max(0, healthy - _count(budget, "minAvailable", len(pods)))
    return max(0, healthy - (len(pods) - _count(budget, "maxUnavailable", len(pods))))


def _count(budget: Obj, field: str, total: int) -> int:
    """A number of pods, or a percentage of them, which rounds up in both fields."""
    value = budget["spec"].get(field, 1)
    match = re.fullmatch(r"(\d+)(%?)", str(value))
    if match is None:
        raise invalid(
            BUDGETS, budget["metadata"]["name"], f"spec.{field}: {value!r} is neither a count nor a percentage"
        )
    return math.ceil(total * int(match[1]) / 100) if match[2] else int(match[1])
