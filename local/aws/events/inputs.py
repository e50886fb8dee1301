"""What a target gets of an event: the whole, a part, a constant, or a template filled in. Pure.

Source: EventBridge user guide, "Input transformation". A variable outside quotes becomes JSON, inside quotes its text.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from local.aws.errors import UnsupportedError

_STEP = re.compile(r"\.([^.\[\]]+)|\['([^']+)'\]|\[(\d+)\]")
_VARIABLE = re.compile(r"<([A-Za-z0-9_.\-]+)>")


def body_for(target: Mapping[str, Any], event: Mapping[str, Any], *, rule_arn: str) -> str:
    """The text that is delivered to a target.

    Raises:
        UnsupportedError: a path that is not of the simple form `$.detail.name[0]`.
    """
    if "Input" in target:
        return str(target["Input"])
    if "InputPath" in target:
        return json.dumps(at_path(event, target["InputPath"]))
    if "InputTransformer" in target:
        return _transformed(target["InputTransformer"], event, rule_arn)
    return json.dumps(event)


def at_path(event: Any, path: str) -> Any:
    """The value at a JSON path; None where there is none."""
    if not path.startswith("$"):
        raise UnsupportedError(f"the path {path!r} does not start with $")
    position, value = 1, event
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise UnsupportedError(f"the path {path!r} is not represented: only names and numbers are")
        value = _child(value, step[1] or step[2], step[3])
        position = step.end()
    return value


def _child(value: Any, name: str | None, index: str | None) -> Any:
    if name is not None:
        return value.get(name) if isinstance(value, Mapping) else None
    number = int(index or 0)
    return value[number] if isinstance(value, list) and number < len(value) else None


def _transformed(transformer: Mapping[str, Any], event: Mapping[str, Any], rule_arn: str) -> str:
    values = {name: at_path(event, path) for name, path in transformer.get("InputPathsMap", {}).items()}
    values |= {
        "aws.events.rule-arn": rule_arn,
        "aws.events.rule-name": rule_arn.rsplit("/", 1)[-1],
        "aws.events.event.ingestion-time": event.get("time"),
        "aws.events.event": {name: value for name, value in event.items() if name != "detail"},
        "aws.events.event.json": event,
    }
    template = transformer["InputTemplate"]

    def fill(variable: re.Match[str]) -> str:
        if variable[1] not in values:
            return variable[0]
        value = values[variable[1]]
        if _in_quotes(template, variable.start()):
            return _inside(value)
        return json.dumps(value)

    return _VARIABLE.sub(fill, template)


def _inside(value: Any) -> str:
    """A value within a quoted text: escaped, so that the result is JSON again."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return json.dumps(text)[1:-1]


def _in_quotes(template: str, position: int) -> bool:
    return len(re.findall(r'(?<!\\)"', template[:position])) % 2 == 1
