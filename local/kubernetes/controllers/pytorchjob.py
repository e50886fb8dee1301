"""The PyTorchJob controller of the Kubeflow training operator (kubeflow.org/v1), as far as suspending and resuming go.

Pods are named JOB-TYPE-INDEX and labelled as the operator does. Suspending deletes the pods and keeps the job; a job
that failed or succeeded stays so, whatever its spec says.
"""

from collections.abc import Iterator

from local.kubernetes import pods as pod_rules
from local.kubernetes.controllers.kubelet import restarts_of
from local.kubernetes.objects import (
    Obj,
    has_condition,
    is_terminating,
    name_of,
    namespace_of,
    owner_uids,
    set_condition,
    timestamp,
)
from local.kubernetes.resources import PODS, PYTORCH_JOBS
from local.kubernetes.store import Store

JOB_LABEL = "training.kubeflow.org/job-name"
TYPE_LABEL = "training.kubeflow.org/replica-type"
INDEX_LABEL = "training.kubeflow.org/replica-index"
_RETRYABLE = 128  # restartPolicy ExitCode: 1–127 is final, 128–255 (signals) is tried again


def reconcile(store: Store) -> None:
    """Bring every job one step nearer to its spec."""
    jobs, _ = store.select(PYTORCH_JOBS)
    for job in jobs:
        with store.transaction():
            _reconcile_job(store, job)


def is_suspended(job: Obj) -> bool:
    """Whether the spec asks for suspension."""
    return bool(job["spec"].get("runPolicy", {}).get("suspend", False))


def is_over(job: Obj) -> bool:
    return has_condition(job, "Failed") or has_condition(job, "Succeeded")


def pods_of(store: Store, job: Obj) -> list[Obj]:
    """The pods this job owns, by uid: a namesake's pods are not ours."""
    pods, _ = store.select(PODS, namespace_of(job))
    return [pod for pod in pods if job["metadata"]["uid"] in owner_uids(pod)]


def _reconcile_job(store: Store, job: Obj) -> None:
    pods = pods_of(store, job)
    if is_over(job):
        return
    if is_suspended(job):
        _delete(store, pods)
        _write_status(store, job, [], "Suspended", "PyTorchJob is suspended.")
        return
    failure = _failure(job, pods)
    if failure:
        _delete(store, [pod for pod in pods if pod["status"]["phase"] == "Running"])
        _write_status(store, job, [], "Failed", failure)
        return
    _delete(store, _to_restart(pods))
    _create_missing(store, job, {name_of(pod) for pod in pods})
    _write_progress(store, job, pods)


def _delete(store: Store, pods: list[Obj]) -> None:
    for pod in pods:
        if not is_terminating(pod):
            pod_rules.delete(store, namespace_of(pod), name_of(pod), grace=None)


def _failure(job: Obj, pods: list[Obj]) -> str:
    """Why the job has failed for good; empty while it has not."""
    limit = job["spec"].get("runPolicy", {}).get("backoffLimit")
    restarts = sum(restarts_of(pod) for pod in pods)
    # PastBackoffLimit of the operator: the limit itself is past it, except that 0 allows the first start.
    if limit is not None and restarts >= max(limit, 1):
        return f"PyTorchJob {name_of(job)} has failed because it has reached the specified backoff limit."
    for pod in pods:
        if pod["status"]["phase"] == "Failed" and pod not in _to_restart(pods):
            return f"PyTorchJob {name_of(job)} is failed because 1 replica(s) failed ({name_of(pod)})."
    return ""


def _to_restart(pods: list[Obj]) -> list[Obj]:
    return [pod for pod in pods if pod["status"]["phase"] == "Failed" and _exit_code(pod) >= _RETRYABLE]


def _exit_code(pod: Obj) -> int:
    """The code when the replica's policy was ExitCode (pods then carry Never and say so in an annotation); else 0."""
    if pod["metadata"].get("annotations", {}).get("training.kubeflow.org/restart-policy") != "ExitCode":
        return 0
    states = [entry.get("state", {}) for entry in pod["status"].get("containerStatuses", [])]
    return max((int(state.get("terminated", {}).get("exitCode", 0)) for state in states), default=0)


def _create_missing(store: Store, job: Obj, there: set[str]) -> None:
    for pod in _wanted_pods(job):
        if name_of(pod) not in there:
            store.create(PODS, namespace_of(job), pod_rules.with_defaults(pod))


def _wanted_pods(job: Obj) -> Iterator[Obj]:
    for replica_type, spec in job["spec"]["pytorchReplicaSpecs"].items():
        for index in range(int(spec.get("replicas", 1))):
            yield _pod(job, replica_type.lower(), index, spec)


def _pod(job: Obj, replica_type: str, index: int, replica: Obj) -> Obj:
    meta, template = job["metadata"], replica["template"]
    policy = replica.get("restartPolicy", "OnFailure")
    labels = {
        JOB_LABEL: meta["name"],
        TYPE_LABEL: replica_type,
        INDEX_LABEL: str(index),
        "training.kubeflow.org/operator-name": "pytorchjob-controller",
    }
    if replica_type == "master":
        labels["training.kubeflow.org/job-role"] = "master"
    owner = {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": meta["name"], "uid": meta["uid"]}
    annotations = {**template.get("metadata", {}).get("annotations", {})}
    if policy == "ExitCode":
        annotations["training.kubeflow.org/restart-policy"] = policy
    return {
        "metadata": {
            "name": f"{meta['name']}-{replica_type}-{index}",
            "labels": {**template.get("metadata", {}).get("labels", {}), **labels},
            "annotations": annotations,
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {**template["spec"], "restartPolicy": "Never" if policy == "ExitCode" else policy},
    }


def _write_progress(store: Store, job: Obj, pods: list[Obj]) -> None:
    running = [pod for pod in pods if pod["status"]["phase"] == "Running" and not is_terminating(pod)]
    if pods and all(pod["status"]["phase"] == "Succeeded" for pod in pods):
        _write_status(store, job, [], "Succeeded", "PyTorchJob is successfully completed.")
    elif _counts_as_running(job, running):
        _write_status(store, job, running, "Running", "PyTorchJob is running.")
    else:
        _write_status(store, job, running, "Created", "PyTorchJob is created.")


def _counts_as_running(job: Obj, running: list[Obj]) -> bool:
    """As the operator sees it: the master runs, or anything does where there is none. Not that the gang is whole."""
    types = {pod["metadata"]["labels"][TYPE_LABEL] for pod in running}
    return "master" in types if "Master" in job["spec"]["pytorchReplicaSpecs"] else bool(types)


# Of these only one is true at a time; Created stays true for ever.
_EXCLUSIVE = ("Running", "Suspended", "Failed", "Succeeded")


def _write_status(store: Store, job: Obj, running: list[Obj], kind: str, message: str) -> None:
    now = store.now()

    def change(current: Obj) -> Obj:
        set_condition(current, {"type": "Created", "status": "True", "reason": "PyTorchJobCreated"}, now)
        for other in _EXCLUSIVE:
            if other != kind and has_condition(current, other):
                reason = "PyTorchJobResumed" if other == "Suspended" else f"PyTorchJob{kind}"
                set_condition(current, {"type": other, "status": "False", "reason": reason}, now)
        if kind != "Created":
            wanted = {"type": kind, "status": "True", "reason": f"PyTorchJob{kind}", "message": message}
            set_condition(current, wanted, now)
        status = current["status"]
        status["replicaStatuses"] = _replica_statuses(job, running)
        if is_suspended(job):
            status.pop("startTime", None)
        else:
            status.setdefault("startTime", timestamp(now))
        if kind in {"Failed", "Succeeded"}:
            status.setdefault("completionTime", timestamp(now))
        return current

    store.update(PYTORCH_JOBS, namespace_of(job), name_of(job), change, subresource="status")


def _replica_statuses(job: Obj, running: list[Obj]) -> Obj:
    types = [pod["metadata"]["labels"][TYPE_LABEL] for pod in running]
    return {name: {"active": types.count(name.lower())} for name in job["spec"]["pytorchReplicaSpecs"]}
