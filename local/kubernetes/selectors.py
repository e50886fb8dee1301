"""Label and field selectors: which objects a list, a watch or a budget means.

Grammar: kubernetes.io/docs/concepts/overview/working-with-objects/labels and .../field-selectors.
"""

import re
from collections.abc import Callable
from typing import Any

from local.kubernetes.errors import bad_request
from local.kubernetes.objects import Obj

Selector = Callable[[Obj], bool]

_SET = re.compile(r"^(?P<key>\S+)\s+(?P<op>in|notin)\s*\((?P<values>[^)]*)\)$")
_EQUALS = re.compile(r"^(?P<key>[^=!\s]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^=!\s]*)$")
_EXISTS = re.compile(r"^(?P<not>!?)(?P<key>[^=!\s()]+)$")
# What the real server can select by; anything else it refuses, and so do we.
_FIELDS = frozenset({"metadata.name", "metadata.namespace", "spec.nodeName", "spec.unschedulable", "status.phase"})
_EVENT_FIELDS = frozenset({"involvedObject.name", "involvedObject.uid", "reason", "type"})


def everything(_obj: Obj) -> bool:
    return True


def both(first: Selector, second: Selector) -> Selector:
    return lambda obj: first(obj) and second(obj)


def labels(text: str) -> Selector:
    """The selector that `labelSelector=text` means; BadRequest when it does not parse."""
    return _all_of([_label_requirement(part) for part in _split(text)])


def _split(text: str) -> list[str]:
    """Cut at commas outside parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _all_of(selectors: list[Selector]) -> Selector:
    return lambda obj: all(selector(obj) for selector in selectors)


def _label_requirement(part: str) -> Selector:
    if match := _SET.match(part):
        values = {value.strip() for value in match["values"].split(",")}
        return _one_of(match["key"], values, wanted=match["op"] == "in")
    if match := _EQUALS.match(part):
        return _one_of(match["key"], {match["value"]}, wanted=match["op"] != "!=")
    if match := _EXISTS.match(part):
        key, present = match["key"], not match["not"]
        return lambda obj: (key in _labels_of(obj)) is present
    raise bad_request(f"unable to parse requirement {part!r} of the label selector")


def _one_of(key: str, values: set[str], *, wanted: bool) -> Selector:
    return lambda obj: (_labels_of(obj).get(key) in values) is wanted


def _labels_of(obj: Obj) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def fields(text: str) -> Selector:
    """The selector that `fieldSelector=text` means; BadRequest for a field that the real server cannot select by."""
    return _all_of([_field_requirement(part) for part in _split(text)])


def _field_requirement(part: str) -> Selector:
    match = _EQUALS.match(part)
    if match is None or match["key"] not in _FIELDS | _EVENT_FIELDS:
        raise bad_request(f"field selector {part!r} is not supported; known: {', '.join(sorted(_FIELDS))}")
    path, value, wanted = match["key"].split("."), match["value"], match["op"] != "!="
    return lambda obj: (_text_at(obj, path) == value) is wanted


def _text_at(obj: Obj, path: list[str]) -> str:
    value: Any = obj
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return str(value).lower()
    return "false" if value is None and path[-1] == "unschedulable" else str(value or "")


def match_labels(selector: Obj | None) -> Selector:
    """The selector of a spec: {matchLabels, matchExpressions}; None and {} mean everything in policy/v1."""
    spec = selector or {}
    wanted = [_one_of(key, {value}, wanted=True) for key, value in spec.get("matchLabels", {}).items()]
    return _all_of(wanted + [_expression(entry) for entry in spec.get("matchExpressions", [])])


def _expression(entry: Obj) -> Selector:
    key, operator, values = entry["key"], entry["operator"], set(entry.get("values", []))
    if operator in {"In", "NotIn"}:
        return _one_of(key, values, wanted=operator == "In")
    return lambda obj: (key in _labels_of(obj)) is (operator == "Exists")
