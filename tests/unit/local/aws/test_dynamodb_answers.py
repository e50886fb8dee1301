"""What DynamoDB answers is the same, only sooner."""

import json
from typing import Any
from unittest.mock import patch

import pytest
from moto.core.serialize import JSONSerializer, XFormedAttributePicker
from moto.core.utils import get_service_model

from local.aws.patches import dynamodb_answers

VALUES: dict[str, dict[str, Any]] = {
    "text": {"S": "a"},
    "empty text": {"S": ""},
    "number": {"N": "1.5"},
    "bytes": {"B": b"\x00\xff"},
    "sets": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "flags": {"L": [{"BOOL": False}, {"BOOL": True}, {"NULL": True}]},
    "nested": {"M": {"S": {"S": "named as a member"}, "list": {"L": [{"M": {"deep": {"N": "1"}}}, {"L": []}]}}},
    "empty": {"M": {}},
    "no members": {},
}


def _told(operation: str, result: dict[str, Any]) -> Any:
    model = get_service_model("dynamodb").operation_model(operation)
    answer = JSONSerializer(operation_model=model, value_picker=XFormedAttributePicker()).serialize(result)
    return json.loads(answer["body"])


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ("GetItem", {"Item": VALUES}),
        ("Query", {"Items": [VALUES, {"a": {"S": "b"}}], "Count": 2, "LastEvaluatedKey": {"a": {"S": "b"}}}),
        ("BatchGetItem", {"Responses": {"table": [VALUES]}, "UnprocessedKeys": {}}),
        ("UpdateItem", {"Attributes": VALUES}),
    ],
)
def test_it_tells_what_moto_told(operation: str, result: dict[str, Any]) -> None:
    original = dynamodb_answers.apply()
    now = _told(operation, result)
    with patch.object(JSONSerializer, "_serialize_type_structure", original):
        assert now == _told(operation, result)
