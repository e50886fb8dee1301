"""The JSON Schema of a policy takes what the loader takes, and refuses what an editor can see to be wrong."""

import importlib
from typing import Any

import pytest

from policies.durations import parse_duration
from policies.model import Policy, written_names
from policies.schemas import policy_schema
from tests.tools.envelopes import shipped_documents

VALIDATOR = importlib.import_module("jsonschema").Draft202012Validator
GOOD: dict[str, Any] = {
    "name": "hot-for-long",
    "mode": "active",
    "why": "for a test",
    "when": 'event.kind == "gpu.overheated"',
    "for": "1h30m",
    "do": ["alert"],
}


def refused(document: dict[str, Any]) -> bool:
    return any(VALIDATOR(policy_schema()).iter_errors(document))


def test_every_shipped_policy_fits_the_schema() -> None:
    documents = shipped_documents()
    assert documents
    assert [document["name"] for document in documents if refused(document)] == []


@pytest.mark.parametrize(
    "change",
    [
        {"for": 300},
        {"for": "5"},
        {"settle": "soon"},
        {"dwell": "5m"},
        {"mode": "on"},
        {"do": []},
        {"do": ["replace"]},
        {"count": {"at_leas": 3}},
        {"name": "Bad Name"},
    ],
)
def test_what_an_editor_can_see_is_refused(change: dict[str, Any]) -> None:
    assert not refused(GOOD)
    assert refused({**GOOD, **change})


def test_the_schema_has_the_fields_as_they_are_written_and_tells_bounds_in_words() -> None:
    schema = policy_schema()
    assert set(schema["properties"]) == set(written_names(Policy))
    assert schema["properties"]["deadline"]["description"].endswith("From 10s to 1d.")
    assert schema["additionalProperties"] is False
    assert parse_duration("1h30m") == 5400.0
