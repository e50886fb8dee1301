"""Versions, uids, generations, preconditions and finalizers: what every client of Kubernetes builds upon."""

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from local.kubernetes.errors import StatusError
from local.kubernetes.objects import Obj
from local.kubernetes.resources import NODES, PYTORCH_JOBS
from local.kubernetes.selectors import labels
from local.kubernetes.store import Preconditions, Store

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def store() -> Store:
    uids = (f"uid-{number}" for number in itertools.count())
    return Store(now=lambda: NOW, new_uid=lambda: next(uids))


def node(name: str, **spec: Any) -> Obj:
    return {"metadata": {"name": name, "labels": {"pool": "gpu"}}, "spec": spec}


def test_a_created_object_gets_uid_version_and_time(store: Store) -> None:
    made = store.create(NODES, "", node("a"))
    assert made["metadata"]["uid"] == "uid-0"
    assert made["metadata"]["resourceVersion"] == "1"
    assert made["metadata"]["creationTimestamp"] == "2026-01-31T12:00:00Z"
    assert (made["apiVersion"], made["kind"]) == ("v1", "Node")
    with pytest.raises(StatusError, match='nodes "a" already exists'):
        store.create(NODES, "", node("a"))


def test_a_write_on_a_stale_version_is_a_conflict(store: Store) -> None:
    first = store.create(NODES, "", node("a"))
    store.update(NODES, "", "a", lambda obj: {**obj, "spec": {"unschedulable": True}})
    with pytest.raises(StatusError, match="has been modified") as caught:
        store.update(NODES, "", "a", lambda _obj: first)
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")
    assert store.get(NODES, "", "a")["spec"] == {"unschedulable": True}


def test_a_write_that_changes_nothing_makes_no_version(store: Store) -> None:
    first = store.create(NODES, "", node("a"))
    again = store.update(NODES, "", "a", lambda obj: obj)
    assert again == first
    assert store.version() == "1"


def test_what_comes_out_of_the_store_is_a_copy(store: Store) -> None:
    store.create(NODES, "", node("a"))
    store.get(NODES, "", "a")["spec"]["unschedulable"] = True
    store.select(NODES)[0][0]["spec"]["unschedulable"] = True
    assert store.get(NODES, "", "a")["spec"] == {}


def test_the_status_is_written_only_through_its_subresource(store: Store) -> None:
    store.create(NODES, "", node("a"))
    store.update(NODES, "", "a", lambda obj: {**obj, "status": {"phase": "x"}})
    assert "status" not in store.get(NODES, "", "a")
    store.update(NODES, "", "a", lambda obj: {**obj, "spec": {"x": 1}, "status": {"phase": "y"}}, subresource="status")
    found = store.get(NODES, "", "a")
    assert (found["spec"], found["status"]) == ({}, {"phase": "y"})


def test_generation_counts_changes_of_the_spec(store: Store) -> None:
    store.create(PYTORCH_JOBS, "ml", {"metadata": {"name": "job"}, "spec": {"a": 1}})
    store.update(PYTORCH_JOBS, "ml", "job", lambda obj: {**obj, "status": {"s": 1}}, subresource="status")
    assert store.get(PYTORCH_JOBS, "ml", "job")["metadata"]["generation"] == 1
    store.update(PYTORCH_JOBS, "ml", "job", lambda obj: {**obj, "spec": {"a": 2}})
    assert store.get(PYTORCH_JOBS, "ml", "job")["metadata"]["generation"] == 2


def test_nobody_changes_uid_or_name(store: Store) -> None:
    made = store.create(NODES, "", node("a"))
    store.update(NODES, "", "a", lambda obj: {**obj, "metadata": {"name": "b", "labels": {}}})
    found = store.get(NODES, "", "a")["metadata"]
    assert (found["name"], found["uid"], found["labels"]) == ("a", made["metadata"]["uid"], {})
    with pytest.raises(StatusError, match="Precondition failed: UID"):
        store.update(NODES, "", "a", lambda obj: {**obj, "metadata": {**obj["metadata"], "uid": "other"}})


def test_a_delete_keeps_its_preconditions(store: Store) -> None:
    store.create(NODES, "", node("a"))
    with pytest.raises(StatusError, match="UID in precondition: uid-9, UID in object meta: uid-0"):
        store.delete(NODES, "", "a", Preconditions(uid="uid-9"))
    store.delete(NODES, "", "a", Preconditions(uid="uid-0", resource_version="1"))
    with pytest.raises(StatusError, match='nodes "a" not found'):
        store.get(NODES, "", "a")


def test_finalizers_hold_an_object_until_they_are_taken_off(store: Store) -> None:
    store.create(NODES, "", {"metadata": {"name": "a", "finalizers": ["x"]}})
    assert "deletionTimestamp" in store.delete(NODES, "", "a")["metadata"]
    assert "deletionTimestamp" in store.get(NODES, "", "a")["metadata"]
    store.update(NODES, "", "a", lambda obj: {**obj, "metadata": {**obj["metadata"], "finalizers": []}})
    assert store.select(NODES)[0] == []


def test_a_list_is_selected_by_labels(store: Store) -> None:
    store.create(NODES, "", node("a"))
    store.create(NODES, "", {"metadata": {"name": "b", "labels": {"pool": "cpu"}}})
    found, version = store.select(NODES, "", labels("pool in (gpu, other)"))
    assert [obj["metadata"]["name"] for obj in found] == ["a"]
    assert version == "2"


def test_the_history_tells_every_change_in_order(store: Store) -> None:
    store.create(NODES, "", node("a"))
    store.update(NODES, "", "a", lambda obj: {**obj, "spec": {"x": 1}})
    store.delete(NODES, "", "a")
    changes = store.history.since(0)
    assert [(change.version, change.type) for change in changes] == [(1, "ADDED"), (2, "MODIFIED"), (3, "DELETED")]
    assert changes[1].before == changes[0].after
    assert [change.version for change in store.history.since(2)] == [3]


def test_a_version_that_the_history_forgot_has_expired(store: Store) -> None:
    store.create(NODES, "", node("a"))
    for number in range(5001):
        store.update(NODES, "", "a", lambda obj, number=number: {**obj, "spec": {"x": number}})  # type: ignore[misc]
    with pytest.raises(StatusError, match="too old resource version: 1"):
        store.history.since(1)


def test_a_generated_name_is_new_each_time(store: Store) -> None:
    made = [store.create(NODES, "", {"metadata": {"generateName": "n-"}}) for _ in range(2)]
    assert len({obj["metadata"]["name"] for obj in made}) == 2
    with pytest.raises(StatusError, match="generateName is required"):
        store.create(NODES, "", {"metadata": {}})
