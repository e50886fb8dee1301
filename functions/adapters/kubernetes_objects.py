"""Kubernetes JSON to Relight's words, and changes to merge patches.

It must not call the API.
"""

from collections.abc import Mapping
from typing import Any

from functions.ports.kubernetes import Job, JobChange, JobName, Node, NodeChange, Pod, Taint
from policies.contract.times import parse_time

Object = Mapping[str, Any]
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"  # Kueue, "Run A Kubeflow Job": set by whoever submits the job


def read_node(node: Object) -> Node:
    """Return the node. providerID is ``aws:///<zone>/<instance id>``."""
    meta, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    return Node(
        name=meta["name"],
        resource_version=meta["resourceVersion"],
        instance_id=str(spec.get("providerID") or "").rpartition("/")[2],
        ready=_is_true(status, "Ready"),
        unschedulable=bool(spec.get("unschedulable")),
        taints=tuple(Taint(each["key"], each.get("value") or "", each["effect"]) for each in spec.get("taints") or ()),
        annotations=dict(meta.get("annotations") or {}),
        allocatable={key: int(value) for key, value in (status.get("allocatable") or {}).items() if _is_count(value)},
    )


def read_job(name: JobName, job: Object) -> Job:
    """Return the PyTorchJob."""
    meta, spec, status = job["metadata"], job.get("spec") or {}, job.get("status") or {}
    finished: Any = next((each for each in ("Succeeded", "Failed") if _is_true(status, each)), "")
    return Job(
        name=name,
        uid=meta["uid"],
        resource_version=meta["resourceVersion"],
        suspended=bool((spec.get("runPolicy") or {}).get("suspend")),
        finished=finished,
        annotations=dict(meta.get("annotations") or {}),
        replicas=tuple(spec.get("pytorchReplicaSpecs") or ()),
        created_at=parse_time(meta["creationTimestamp"]) if meta.get("creationTimestamp") else None,
        queue=str((meta.get("labels") or {}).get(QUEUE_LABEL) or ""),
    )


def read_pod(pod: Object) -> Pod:
    """Return the pod."""
    meta = pod["metadata"]
    return Pod(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        node=(pod.get("spec") or {}).get("nodeName") or "",
        leaving=bool(meta.get("deletionTimestamp")),
    )


def is_owned_by(pod: Object, uid: str) -> bool:
    """Whether the pod's owner has this uid."""
    return any(owner.get("uid") == uid for owner in pod["metadata"].get("ownerReferences") or ())


def node_patch(node: Node, change: NodeChange) -> dict[str, Any]:
    """Return the merge patch; a list is replaced as a whole, which is why the resourceVersion goes with it."""
    spec: dict[str, Any] = {}
    if change.unschedulable is not None:
        spec["unschedulable"] = change.unschedulable
    if change.taints is not None:
        spec["taints"] = [_taint(each) for each in change.taints]
    return {"metadata": _meta(node.resource_version, change.annotations), "spec": spec}


def job_patch(job: Job, change: JobChange) -> dict[str, Any]:
    """Return the merge patch of one write: suspension, annotations, and those of the pods to come."""
    spec: dict[str, Any] = {"runPolicy": {"suspend": change.suspended}}
    if change.template:
        template = {"template": {"metadata": {"annotations": dict(change.template)}}}
        spec["pytorchReplicaSpecs"] = dict.fromkeys(job.replicas, template)
    return {"metadata": _meta(job.resource_version, change.annotations), "spec": spec}


def _meta(resource_version: str, annotations: Mapping[str, str | None]) -> dict[str, Any]:
    return {"resourceVersion": resource_version, **({"annotations": dict(annotations)} if annotations else {})}


def _taint(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}


def _is_true(status: Object, condition: str) -> bool:
    return any(each["type"] == condition and each["status"] == "True" for each in status.get("conditions") or ())


def _is_count(value: object) -> bool:
    return str(value).isdigit()
