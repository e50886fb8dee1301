"""The kubelets: pods start and stop on nodes whose machine runs; on a dead node nothing happens, ever.

That is why a pod on a dead node stays Terminating until somebody forces it away.
"""

from collections.abc import Callable
from datetime import datetime

from local.kubernetes.controllers.world import Machines, Timings
from local.kubernetes.objects import Obj, condition, is_terminating, name_of, namespace_of, set_condition, timestamp
from local.kubernetes.resources import PODS
from local.kubernetes.store import Store


class Kubelets:
    """All kubelets of the cluster. Remembers when it first saw a pod bound or terminating, in the store's time."""

    def __init__(self, store: Store, machines: Machines, timings: Timings) -> None:
        self._store = store
        self._machines = machines
        self._timings = timings
        self._since: dict[tuple[str, str], datetime] = {}  # (pod uid, what for)

    def run(self) -> None:
        """Start and stop what is due."""
        pods, _ = self._store.select(PODS)
        uids = {pod["metadata"]["uid"] for pod in pods}
        self._since = {key: at for key, at in self._since.items() if key[0] in uids}
        for pod in pods:
            if self._machines.is_powered(pod["spec"].get("nodeName", "")):
                self._advance(pod)

    def _advance(self, pod: Obj) -> None:
        if is_terminating(pod):
            grace = min(self._timings.pod_stops, pod["metadata"]["deletionGracePeriodSeconds"])
            if self._is_due(pod, "stop", grace):
                self._store.delete(PODS, namespace_of(pod), name_of(pod))
        elif pod["status"]["phase"] == "Pending" and self._is_due(pod, "start", self._timings.pod_starts):
            self._change_status(pod, _started)

    def _is_due(self, pod: Obj, what: str, seconds: float) -> bool:
        first = self._since.setdefault((pod["metadata"]["uid"], what), self._store.now())
        return (self._store.now() - first).total_seconds() >= seconds

    def fail(self, namespace: str, name: str, exit_code: int) -> None:
        """The pod's main process ended with this code: restarted in place, or the pod has failed (restartPolicy)."""
        pod = self._store.get(PODS, namespace, name)
        restarts = exit_code != 0 and pod["spec"]["restartPolicy"] in {"OnFailure", "Always"}
        self._change_status(pod, _restarted if restarts else lambda one, at: _ended(one, at, exit_code))

    def _change_status(self, pod: Obj, change: Callable[[Obj, datetime], None]) -> None:
        def changed(current: Obj) -> Obj:
            change(current, self._store.now())
            return current

        self._store.update(PODS, namespace_of(pod), name_of(pod), changed, subresource="status")


def restarts_of(pod: Obj) -> int:
    """How often containers of the pod were started again."""
    return sum(entry.get("restartCount", 0) for entry in pod["status"].get("containerStatuses", []))


def _started(pod: Obj, at: datetime) -> None:
    pod["status"].update(phase="Running", startTime=timestamp(at))
    pod["status"]["containerStatuses"] = [_container_status(entry, at) for entry in pod["spec"]["containers"]]
    for kind in ("Initialized", "ContainersReady", "Ready"):
        set_condition(pod, {"type": kind, "status": "True"}, at)


def _container_status(container: Obj, at: datetime) -> Obj:
    """All that the API requires of a container's status."""
    image = container.get("image", "")
    running = {"running": {"startedAt": timestamp(at)}}
    return {
        "name": container["name"],
        "image": image,
        "imageID": image,
        "ready": True,
        "restartCount": 0,
        "state": running,
    }


def _restarted(pod: Obj, at: datetime) -> None:
    for entry in pod["status"].get("containerStatuses", []):
        entry["restartCount"] += 1
        entry["state"] = {"running": {"startedAt": timestamp(at)}}


def _ended(pod: Obj, at: datetime, exit_code: int) -> None:
    pod["status"]["phase"] = "Failed" if exit_code else "Succeeded"
    for entry in pod["status"].get("containerStatuses", []):
        entry["ready"] = False
        entry["state"] = {"terminated": {"exitCode": exit_code, "finishedAt": timestamp(at)}}
    if condition(pod, "Ready"):
        set_condition(pod, {"type": "Ready", "status": "False", "reason": "PodCompleted"}, at)
