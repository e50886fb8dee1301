"""The three patch formats, by the examples of their specifications and what the property must be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.kubernetes import json_patch
from local.kubernetes.errors import StatusError
from local.kubernetes.patches import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, merge_patch, patch_for, strategic_merge
from local.kubernetes.resources import NODES, PYTORCH_JOBS

JSON = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=4)


# RFC 7386, appendix A.
@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_does_what_its_rfc_shows(target: dict[str, Any], patch: dict[str, Any], result: object) -> None:
    assert merge_patch(target, patch) == result


@given(OBJECTS, OBJECTS)
def test_a_merge_patch_applied_twice_is_applied_once(target: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once


def test_conditions_merge_by_type_and_taints_are_one_value() -> None:
    node = {
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "False"}]},
    }
    patch = {
        "spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]},
    }
    assert strategic_merge(node, patch) == {
        "spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown"}, {"type": "DiskPressure", "status": "False"}]},
    }


def test_a_strategic_patch_deletes_and_replaces_by_directive() -> None:
    pod = {"containers": [{"name": "a", "image": "1"}, {"name": "b"}], "labels": {"x": "1"}}
    patch = {"containers": [{"name": "a", "$patch": "delete"}], "labels": {"$patch": "replace", "y": "2"}}
    assert strategic_merge(pod, patch) == {"containers": [{"name": "b"}], "labels": {"y": "2"}}
    meta = {"finalizers": ["a", "b"]}
    assert strategic_merge(meta, {"finalizers": ["c"]}) == {"finalizers": ["a", "b", "c"]}
    assert strategic_merge(meta, {"$deleteFromPrimitiveList/finalizers": ["a"]}) == {"finalizers": ["b"]}


# RFC 6902, appendix A, and pointers with escapes.
@pytest.mark.parametrize(
    ("document", "operations", "result"),
    [
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}),
        ({"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "q"}], {"foo": ["bar", "q", "baz"]}),
        ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": "q"}], {"foo": ["bar", "q"]}),
        ({"foo": 1, "baz": 2}, [{"op": "remove", "path": "/baz"}], {"foo": 1}),
        ({"foo": [1, 2, 3]}, [{"op": "remove", "path": "/foo/1"}], {"foo": [1, 3]}),
        ({"a/b": 1}, [{"op": "replace", "path": "/a~1b", "value": 2}], {"a/b": 2}),
        ({"a": {"b": 1}, "c": {}}, [{"op": "move", "from": "/a/b", "path": "/c/d"}], {"a": {}, "c": {"d": 1}}),
        ({"a": 1}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": 1, "b": 1}),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1}], {"a": 1}),
    ],
)
def test_a_json_patch_does_what_its_rfc_shows(
    document: dict[str, Any], operations: list[dict[str, Any]], result: object
) -> None:
    assert json_patch.apply(document, operations) == result


def test_a_json_patch_that_fails_changes_nothing() -> None:
    document = {"a": 1}
    operations = [{"op": "add", "path": "/b", "value": 2}, {"op": "test", "path": "/a", "value": 7}]
    with pytest.raises(StatusError, match="testing path /a failed") as caught:
        json_patch.apply(document, operations)
    assert caught.value.code == 422
    assert document == {"a": 1}


@pytest.mark.parametrize("path", ["/x/y", "/list/9", "/list/-1"])
def test_a_json_patch_to_nowhere_is_refused(path: str) -> None:
    with pytest.raises(StatusError, match="does not exist"):
        json_patch.apply({"list": [1]}, [{"op": "add", "path": path, "value": 1}])


def test_a_custom_resource_takes_no_strategic_patch() -> None:
    with pytest.raises(StatusError, match="unknown format") as caught:
        patch_for(STRATEGIC_PATCH, PYTORCH_JOBS, {})
    assert caught.value.code == 415
    assert patch_for(STRATEGIC_PATCH, NODES, {"a": 1})({}) == {"a": 1}
    assert patch_for(f"{MERGE_PATCH}; charset=utf-8", PYTORCH_JOBS, {"a": 1})({}) == {"a": 1}
    with pytest.raises(StatusError, match="list of operations"):
        patch_for(JSON_PATCH, NODES, {})
