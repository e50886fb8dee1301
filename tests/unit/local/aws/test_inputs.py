"""What a target gets of an event."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.errors import UnsupportedError
from local.aws.events.inputs import at_path, body_for

_RULE = "arn:aws:events:us-east-1:1:rule/bus/watch"
_EVENT = {"id": "1", "time": "2026-01-01T00:00:00Z", "detail": {"node": 'gpu "1"', "ids": [1, {"deep": True}], "n": 7}}


def _filled(template: str, **paths: str) -> str:
    transformer = {"InputPathsMap": paths, "InputTemplate": template}
    return body_for({"InputTransformer": transformer}, _EVENT, rule_arn=_RULE)


def test_the_whole_event_is_the_default() -> None:
    assert json.loads(body_for({}, _EVENT, rule_arn=_RULE)) == _EVENT


def test_variables_outside_quotes_are_json_and_inside_their_text() -> None:
    body = _filled(
        '{"n": <n>, "ids": <ids>, "text": "<node> has <n>"}', n="$.detail.n", ids="$.detail.ids", node="$.detail.node"
    )
    assert json.loads(body) == {"n": 7, "ids": [1, {"deep": True}], "text": 'gpu "1" has 7'}


def test_reserved_variables_name_the_rule_and_the_event() -> None:
    assert json.loads(_filled('{"rule": "<aws.events.rule-name>", "all": <aws.events.event.json>}')) == {
        "rule": "watch",
        "all": _EVENT,
    }


def test_a_path_that_is_absent_is_null() -> None:
    assert json.loads(_filled('{"x": <x>}', x="$.detail.nothing")) == {"x": None}


@pytest.mark.parametrize(
    ("path", "value"),
    [("$", _EVENT), ("$.id", "1"), ("$.detail.ids[1].deep", True), ("$.detail['n']", 7), ("$.detail.ids[9]", None)],
)
def test_paths(path: str, value: Any) -> None:
    assert at_path(_EVENT, path) == value


@pytest.mark.parametrize("path", ["detail", "$..node", "$.detail[*]"])
def test_a_path_that_is_not_represented_is_refused(path: str) -> None:
    with pytest.raises(UnsupportedError):
        at_path(_EVENT, path)


@given(text=st.text())
def test_a_filled_template_is_json_whatever_the_text(text: str) -> None:
    transformer = {"InputPathsMap": {"t": "$.t"}, "InputTemplate": '{"in": "<t>", "out": <t>}'}
    body = body_for({"InputTransformer": transformer}, {"t": text}, rule_arn=_RULE)
    assert json.loads(body) == {"in": text, "out": text}
