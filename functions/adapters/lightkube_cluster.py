"""A Kubernetes cluster through lightkube.

Objects are read as the JSON they are. Patches are merge patches that carry the resourceVersion which was read: the API
server answers 409 when somebody else was faster. It must not decide what is changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import httpx2
from lightkube import ApiError, Client
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.types import PatchType

from functions.adapters import kubernetes_objects as objects
from functions.ports.kubernetes import ConflictError, Job, JobChange, JobName, Node, NodeChange, Pod
from policies.contract.errors import DependencyError

_NODES = create_global_resource("", "v1", "Node", "nodes")
_PODS = create_namespaced_resource("", "v1", "Pod", "pods")
_JOBS = create_namespaced_resource("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs")
JOB_LABEL = "training.kubeflow.org/job-name"
_PAGE = 500


class LightkubeCluster:
    """See the port."""

    def __init__(self, client: Client) -> None:
        """Keep the client."""
        self._client = client

    def node_of(self, instance_id: str, name: str = "") -> Node | None:
        """See the port. providerID cannot be selected by, so a node of another name is found by listing."""
        named = self.node_named(name) if name else None
        if named is not None and named.instance_id == instance_id:
            return named
        with _calling("listing nodes"):
            listed = self._client.list(_NODES, chunk_size=_PAGE)
            nodes = map(objects.read_node, map(_plain, listed))
            return next((node for node in nodes if node.instance_id == instance_id), None)

    def node_named(self, name: str) -> Node | None:
        """See the port."""
        found = self._get(_NODES, name)
        return objects.read_node(found) if found is not None else None

    def change_node(self, node: Node, change: NodeChange) -> None:
        """See the port."""
        with _calling(f"patching node {node.name}"):
            self._client.patch(_NODES, node.name, objects.node_patch(node, change), patch_type=PatchType.MERGE)

    def job(self, name: JobName) -> Job | None:
        """See the port."""
        found = self._get(_JOBS, name.name, name.namespace)
        return objects.read_job(name, found) if found is not None else None

    def change_job(self, job: Job, change: JobChange) -> None:
        """See the port."""
        patch = objects.job_patch(job, change)
        with _calling(f"patching PyTorchJob {job.name}"):
            self._client.patch(_JOBS, job.name.name, patch, namespace=job.name.namespace, patch_type=PatchType.MERGE)

    def pods_of(self, job: Job) -> Sequence[Pod]:
        """See the port. The label finds them; the owner's uid tells a namesake's pods from ours."""
        with _calling(f"listing the pods of {job.name}"):
            listed = self._client.list(
                _PODS, namespace=job.name.namespace, labels={JOB_LABEL: job.name.name}, chunk_size=_PAGE
            )
            return [objects.read_pod(pod) for pod in map(_plain, listed) if objects.is_owned_by(pod, job.uid)]

    def jobs_on(self, node: Node) -> Sequence[Job]:
        """See the port. The label finds them; the owner's uid tells a namesake's pods from a job's own."""
        with _calling(f"listing the pods on {node.name}"):
            listed = self._client.list(
                _PODS, namespace="*", labels={JOB_LABEL: None}, fields={"spec.nodeName": node.name}, chunk_size=_PAGE
            )
            pods = list(map(_plain, listed))
        names = sorted({(pod["metadata"]["namespace"], pod["metadata"]["labels"][JOB_LABEL]) for pod in pods})
        jobs = [job for job in (self.job(JobName(*name)) for name in names) if job]
        return [job for job in jobs if any(objects.is_owned_by(pod, job.uid) for pod in pods)]

    def delete_pod(self, pod: Pod) -> None:
        """See the port.

        lightkube sends no preconditions, so the uid is looked at right before; by a list, which
        is a right that is needed anyway.
        """
        with _calling(f"looking at pod {pod.namespace}/{pod.name}"):
            named = self._client.list(_PODS, namespace=pod.namespace, fields={"metadata.name": pod.name})
            if pod.uid not in {objects.read_pod(found).uid for found in map(_plain, named)}:
                return
        try:
            with _calling(f"deleting pod {pod.namespace}/{pod.name}"):
                self._client.delete(_PODS, pod.name, namespace=pod.namespace, grace_period=0)
        except _AbsentError:
            return

    def _get(self, kind: Any, name: str, namespace: str | None = None) -> Mapping[str, Any] | None:  # noqa: ANN401 - lightkube makes the class
        try:
            with _calling(f"reading {name}"):
                where = {"namespace": namespace} if namespace else {}
                return _plain(self._client.get(kind, name, **where))
        except _AbsentError:
            return None


class _AbsentError(DependencyError):
    """The API answered 404."""


@contextmanager
def _calling(what: str) -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        code = error.status.code
        if code == HTTPStatus.CONFLICT:
            raise ConflictError(f"{what}: somebody else changed it meanwhile.", hint="It is read again.") from error
        if code == HTTPStatus.NOT_FOUND:
            raise _AbsentError(f"{what}: it is not there.", hint="It is looked for again.") from error
        raise DependencyError(f"{what} failed: {code} {error.status.message}.", hint=_hint(code)) from error
    except httpx2.HTTPError as error:
        raise DependencyError(
            f"{what} failed: {error!r}.", hint="Is the endpoint reachable from the function?"
        ) from error


def _hint(code: int | None) -> str:
    if code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return "Give the function's role an access entry and the rights of infra/kubernetes."
    return "It is tried again."


def _plain(found: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a generic resource
    plain: Mapping[str, Any] = found.to_dict()
    return plain
