"""JSON patch (RFC 6902): a list of operations, all or nothing."""

import copy
from typing import Any

from local.kubernetes.errors import StatusError, bad_request
from local.kubernetes.objects import Obj

_MISSING = object()


def apply(document: Obj, operations: list[Any]) -> Obj:
    """A new document after all *operations*; StatusError 422 when one of them does not fit (a failed test too)."""
    root: Obj = {"": copy.deepcopy(document)}
    for operation in operations:
        if not isinstance(operation, dict) or "op" not in operation or "path" not in operation:
            raise bad_request("each operation of a JSON patch has op and path")
        _apply_one(root, operation)
    result = root[""]
    if not isinstance(result, dict):
        raise _refused("the patch does not leave an object")
    return result


def _refused(why: str) -> StatusError:
    return StatusError(422, "Invalid", f"the server rejected our request due to an error in our request: {why}")


def _apply_one(root: Obj, operation: Obj) -> None:
    match operation["op"]:
        case "add":
            _add(root, operation["path"], copy.deepcopy(_value(operation)))
        case "remove":
            _remove(root, operation["path"])
        case "replace":
            _remove(root, operation["path"])
            _add(root, operation["path"], copy.deepcopy(_value(operation)))
        case "test":
            if _read(root, operation["path"]) != _value(operation):
                raise _refused(f"testing path {operation['path']} failed")
        case "copy":
            _add(root, operation["path"], copy.deepcopy(_read(root, operation["from"])))
        case "move":
            _add(root, operation["path"], _remove(root, operation["from"]))
        case other:
            raise bad_request(f"unknown JSON patch operation {other!r}")


def _value(operation: Obj) -> Any:  # noqa: ANN401 - JSON
    if "value" not in operation:
        raise bad_request(f"operation {operation['op']} needs a value")
    return operation["value"]


def _steps(path: str) -> list[str]:
    if path and not path.startswith("/"):
        raise bad_request(f"JSON pointer {path!r} does not start with /")
    return ["", *(step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:])]


def _step_into(value: Any, step: str, path: str) -> Any:  # noqa: ANN401 - JSON
    found: Any = _MISSING
    if isinstance(value, dict):
        found = value.get(step, _MISSING)
    elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
        found = value[int(step)]
    if found is _MISSING:
        raise _refused(f"path {path} does not exist")
    return found


def _read(root: Obj, path: str) -> Any:  # noqa: ANN401 - JSON
    value: Any = root
    for step in _steps(path):
        value = _step_into(value, step, path)
    return value


def _parent(root: Obj, path: str) -> tuple[Any, str]:
    *above, last = _steps(path)
    value: Any = root
    for step in above:
        value = _step_into(value, step, path)
    return value, last


def _add(root: Obj, path: str, value: Any) -> None:  # noqa: ANN401 - JSON
    parent, last = _parent(root, path)
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and (last == "-" or (last.isdigit() and int(last) <= len(parent))):
        parent.insert(len(parent) if last == "-" else int(last), value)
    else:
        raise _refused(f"path {path} does not exist")


def _remove(root: Obj, path: str) -> Any:  # noqa: ANN401 - JSON
    parent, last = _parent(root, path)
    value = _step_into(parent, last, path)
    del parent[int(last) if isinstance(parent, list) else last]
    return value
