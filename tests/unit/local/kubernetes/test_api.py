"""Requests and answers, without sockets."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from local.kubernetes.access import Access
from local.kubernetes.api import Answer, Api, Request
from local.kubernetes.audit import Audit
from local.kubernetes.patches import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from local.kubernetes.store import Store
from local.kubernetes.watches import Watch

JOBS = "/apis/kubeflow.org/v1/namespaces/ml/pytorchjobs"
PODS = "/api/v1/namespaces/ml/pods"


class Client:
    def __init__(self) -> None:
        self.store = Store(now=lambda: datetime(2026, 1, 31, tzinfo=UTC))
        self.audit = Audit()
        self.api = Api(self.store, Access({"t": "admin"}), self.audit)

    def ask(
        self, method: str, path: str, body: object = None, *, media: str = "application/json", **query: str
    ) -> Answer:
        answer = self.watch(method, path, body, media=media, **query)
        assert isinstance(answer, Answer)
        return answer

    def watch(
        self, method: str, path: str, body: object = None, *, media: str = "application/json", **query: str
    ) -> Answer | Watch:
        headers = {"authorization": "Bearer t", "content-type": media}
        content = b"" if body is None else json.dumps(body).encode()
        return self.api.answer(Request(method, path, query, headers, content))


@pytest.fixture
def client() -> Client:
    client = Client()
    assert client.ask("POST", "/api/v1/nodes", {"metadata": {"name": "n"}, "spec": {}}).code == 201
    assert client.ask("POST", JOBS, {"metadata": {"name": "job"}, "spec": {"runPolicy": {}}}).code == 201
    pod = {"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "1"}]}}
    assert client.ask("POST", PODS, pod).code == 201
    return client


def test_what_is_not_there_is_a_status_404(client: Client) -> None:
    answer = client.ask("GET", f"{JOBS}/other")
    assert answer.code == 404
    assert answer.body["kind"] == "Status"
    assert answer.body["reason"] == "NotFound"
    assert answer.body["message"] == 'pytorchjobs.kubeflow.org "other" not found'
    assert answer.body["details"] == {"name": "other", "group": "kubeflow.org", "kind": "pytorchjobs"}
    assert client.ask("GET", "/api/v1/secrets").code == 404


@pytest.mark.parametrize(
    ("media", "patch"),
    [
        (MERGE_PATCH, {"spec": {"runPolicy": {"suspend": True}}}),
        (JSON_PATCH, [{"op": "add", "path": "/spec/runPolicy/suspend", "value": True}]),
    ],
)
def test_a_job_is_suspended_by_a_patch(client: Client, media: str, patch: object) -> None:
    answer = client.ask("PATCH", f"{JOBS}/job", patch, media=media)
    assert answer.code == 200
    assert answer.body["spec"]["runPolicy"]["suspend"] is True
    assert answer.body["metadata"]["generation"] == 2


def test_a_patch_with_a_stale_version_is_a_conflict(client: Client) -> None:
    version = client.ask("GET", "/api/v1/nodes/n").body["metadata"]["resourceVersion"]
    patch: dict[str, Any] = {"metadata": {"resourceVersion": version}, "spec": {"unschedulable": True}}
    assert client.ask("PATCH", "/api/v1/nodes/n", patch, media=STRATEGIC_PATCH).code == 200
    patch["spec"]["unschedulable"] = False
    answer = client.ask("PATCH", "/api/v1/nodes/n", patch, media=STRATEGIC_PATCH)
    assert (answer.code, answer.body["reason"]) == (409, "Conflict")


def test_a_pods_spec_stays_but_for_its_image(client: Client) -> None:
    moved = client.ask("PATCH", f"{PODS}/p", {"spec": {"nodeName": "n"}}, media=MERGE_PATCH)
    assert (moved.code, moved.body["reason"]) == (422, "Invalid")
    image = {"spec": {"containers": [{"name": "c", "image": "2"}]}}
    assert client.ask("PATCH", f"{PODS}/p", image, media=STRATEGIC_PATCH).code == 200


def test_a_bound_pod_terminates_with_grace_and_is_forced_away_by_uid(client: Client) -> None:
    assert client.ask("POST", f"{PODS}/p/binding", {"target": {"name": "n"}}).code == 201
    assert client.ask("POST", f"{PODS}/p/binding", {"target": {"name": "n"}}).code == 409
    first = client.ask("DELETE", f"{PODS}/p", gracePeriodSeconds="7")
    assert first.body["metadata"]["deletionGracePeriodSeconds"] == 7
    wrong = client.ask("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0, "preconditions": {"uid": "other"}})
    assert wrong.code == 409
    right = {"gracePeriodSeconds": 0, "preconditions": {"uid": first.body["metadata"]["uid"]}}
    assert client.ask("DELETE", f"{PODS}/p", right).code == 200
    assert client.ask("GET", f"{PODS}/p").code == 404


def test_an_eviction_deletes_the_pod(client: Client) -> None:
    eviction = {"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 5}}
    assert client.ask("POST", f"{PODS}/p/eviction", eviction).code == 201
    assert client.ask("POST", f"{PODS}/p/eviction", eviction).code == 404


def test_a_list_selects_and_says_its_version(client: Client) -> None:
    answer = client.ask("GET", "/api/v1/pods", labelSelector="a=b", fieldSelector="status.phase=Pending")
    assert answer.body["kind"] == "PodList"
    assert [pod["metadata"]["name"] for pod in answer.body["items"]] == ["p"]
    assert answer.body["metadata"]["resourceVersion"] == client.store.version()
    assert client.ask("GET", PODS, labelSelector="a=c").body["items"] == []


def test_a_collection_is_deleted_by_label(client: Client) -> None:
    assert client.ask("DELETE", PODS, labelSelector="a=c").code == 200
    assert client.ask("GET", f"{PODS}/p").code == 200
    assert client.ask("DELETE", PODS, labelSelector="a=b").code == 200
    assert client.ask("GET", f"{PODS}/p").code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("POST", "/api/v1/nodes/n", {}, 405),
        ("PUT", "/api/v1/nodes", {}, 405),
        ("OPTIONS", "/api/v1/nodes", None, 405),
        ("POST", "/api/v1/nodes", [], 400),
        ("POST", PODS, {"metadata": {"name": "q"}}, 422),
        ("POST", PODS, {"metadata": {"name": "q", "namespace": "x"}, "spec": {"containers": [{}]}}, 400),
        ("PATCH", "/api/v1/nodes/n", {"a": 1}, 415),
        ("POST", f"{PODS}/p/binding", {"target": "n"}, 400),
        ("DELETE", f"{PODS}/p", {"preconditions": "x"}, 400),
    ],
)
def test_a_wrong_request_is_refused_with_the_right_code(
    client: Client, method: str, path: str, body: object, code: int
) -> None:
    assert client.ask(method, path, body).code == code


def test_every_write_is_audited_with_its_answer(client: Client) -> None:
    client.ask("GET", "/api/v1/nodes/n")
    client.ask("PATCH", f"{JOBS}/job", {"spec": {"runPolicy": {"suspend": True}}}, media=MERGE_PATCH)
    client.ask("DELETE", "/api/v1/nodes/none")
    patch, delete = client.audit.entries()[-2:]
    assert (patch.verb, patch.target.name, patch.code, patch.who) == ("patch", "job", 200, "admin")
    assert patch.body == {"spec": {"runPolicy": {"suspend": True}}}
    assert (delete.verb, delete.code) == ("delete", 404)


def test_a_stranger_is_unauthorized(client: Client) -> None:
    answer = client.api.answer(Request("GET", "/api/v1/nodes"))
    assert isinstance(answer, Answer)
    assert answer.code == 401


def test_a_watch_tells_what_begins_and_ceases_to_match(client: Client) -> None:
    version = client.store.version()
    watch = client.watch("GET", PODS, watch="true", labelSelector="a=b", resourceVersion=version, timeoutSeconds="1")
    assert isinstance(watch, Watch)
    for labels in ({"a": "c"}, {"a": "b"}, {"a": "b", "x": "y"}):
        client.ask("PATCH", f"{PODS}/p", {"metadata": {"labels": labels}}, media=MERGE_PATCH)
    client.ask("DELETE", f"{PODS}/p")
    kinds = [event["type"] for event in watch.events() if event is not None]
    assert kinds == ["DELETED", "ADDED", "MODIFIED", "DELETED"]


def test_a_watch_without_a_version_begins_with_what_is_there(client: Client) -> None:
    watch = client.watch("GET", "/api/v1/nodes", watch="1", timeoutSeconds="1")
    assert isinstance(watch, Watch)
    client.store.history.close()
    assert [event["object"]["metadata"]["name"] for event in watch.events() if event] == ["n"]


def test_kubectl_finds_the_kinds(client: Client) -> None:
    groups = client.ask("GET", "/apis").body["groups"]
    assert "kubeflow.org" in {group["name"] for group in groups}
    names = {entry["name"] for entry in client.ask("GET", "/apis/kubeflow.org/v1").body["resources"]}
    assert names == {"pytorchjobs", "pytorchjobs/status"}
    assert client.ask("GET", "/version").body["major"] == "1"
    assert client.ask("GET", "/readyz").body["message"] == "ok"
