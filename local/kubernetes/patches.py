"""The three ways to patch an object: JSON merge patch, strategic merge patch, JSON patch.

Pure: documents in, a new document out. It decides what a patch means, never whether it may be applied.
"""

import copy
from collections.abc import Callable
from typing import Any

from local.kubernetes import json_patch
from local.kubernetes.errors import StatusError, bad_request, unsupported_media_type
from local.kubernetes.objects import Obj
from local.kubernetes.resources import ResourceType

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"

# patchMergeKey of k8s.io/api core/v1 types.go, for the fields a training cluster patches. A list that is not named
# here is atomic, as `taints` and `tolerations` are: who patches those sends the whole list.
_MERGE_KEYS: dict[str, str] = {
    "conditions": "type",
    "addresses": "type",
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
    "imagePullSecrets": "name",
    "ownerReferences": "uid",
}
_SETS = frozenset({"finalizers"})  # lists of scalars with patchStrategy=merge


def patch_for(content_type: str, kind: ResourceType, patch: object) -> Callable[[Obj], Obj]:
    """The function that applies *patch* to an object; StatusError 415 for a type that *kind* does not take."""
    media = content_type.partition(";")[0].strip()
    if media == JSON_PATCH and isinstance(patch, list):
        return lambda obj: json_patch.apply(obj, patch)
    if media not in {MERGE_PATCH, STRATEGIC_PATCH} or (media == STRATEGIC_PATCH and kind.is_custom):
        raise _unsupported(media, kind)
    if not isinstance(patch, dict):
        raise bad_request(f"a body of {media} is a JSON object")
    merge = strategic_merge if media == STRATEGIC_PATCH else merge_patch
    return lambda obj: _as_object(merge(obj, patch))


def _unsupported(media: str, kind: ResourceType) -> StatusError:
    accepted = [JSON_PATCH, MERGE_PATCH, *([] if kind.is_custom else [STRATEGIC_PATCH])]
    if media == JSON_PATCH:
        return bad_request("a JSON patch is a list of operations")
    return unsupported_media_type(
        f"the body of the request was in an unknown format ({media or 'none'}) - accepted media types include: "
        f"{', '.join(accepted)}"
    )


def _as_object(value: Any) -> Obj:  # noqa: ANN401 - JSON
    assert isinstance(value, dict)
    return value


def merge_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401 - JSON
    """RFC 7386: objects merge, null removes, everything else replaces."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = copy.deepcopy(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def strategic_merge(target: Any, patch: Any, field: str = "") -> Any:  # noqa: ANN401 - JSON
    """Like a merge patch, but lists with a merge key merge by it; `$patch` replaces or deletes."""
    if isinstance(patch, list):
        return _merge_lists(target if isinstance(target, list) else [], patch, field)
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    if patch.get("$patch") == "replace":
        return {key: copy.deepcopy(value) for key, value in patch.items() if key != "$patch"}
    result = copy.deepcopy(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        _merge_field(result, key, value)
    return result


def _merge_field(result: Obj, key: str, value: Any) -> None:  # noqa: ANN401 - JSON
    if key.startswith("$deleteFromPrimitiveList/"):
        field = key.partition("/")[2]
        result[field] = [item for item in result.get(field, []) if item not in value]
    elif key.startswith(("$setElementOrder/", "$retainKeys")):
        return  # the order of a merged list carries no meaning in any field we hold
    elif value is None:
        result.pop(key, None)
    else:
        result[key] = strategic_merge(result.get(key), value, key)


def _merge_lists(old: list[Any], patch: list[Any], field: str) -> list[Any]:
    if field in _SETS:
        return [*old, *(item for item in patch if item not in old)]
    merge_key = _MERGE_KEYS.get(field)
    if merge_key is None or {"$patch": "replace"} in patch:
        return [copy.deepcopy(item) for item in patch if item != {"$patch": "replace"}]
    merged = {item.get(merge_key): item for item in copy.deepcopy(old)}
    for item in patch:
        name = item.get(merge_key)
        if item.get("$patch") == "delete":
            merged.pop(name, None)
        else:
            merged[name] = strategic_merge(merged.get(name), item)
    return list(merged.values())
