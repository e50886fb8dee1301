"""Whatever stands in an event: it is noted in a form that the table takes, or it is told to be none. Nothing else."""

import json
from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from functions.adapters.policy_calls import item_of
from functions.callers.reading import UnreadableError, read
from functions.callers.telling import told_of
from tests.tools.envelopes import NOW
from tests.tools.trail import body, detail

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=40)
    | st.sampled_from(["\ud800", "AKIAIOSFODNN7EXAMPLE"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "sk", "S", "x"]), inner),
    max_leaves=6,
)


def paths(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, each in inner for path in paths(each, (*at, key)))]


@pytest.mark.parametrize(
    "more",
    [
        {"requestParameters": {"key": {"name": "\ud800", "sk": "live"}}},
        {"eventID": "\ud800", "eventName": "\ud800"},
        {"eventID": "\U0001f600" * 300, "requestParameters": {"key": {"name": "p", "sk": "rev#" + "\U0001f600" * 300}}},
    ],
)
def test_what_no_table_takes_is_made_writable_or_it_would_hold_up_those_beside_it(more: dict[str, Any]) -> None:
    (call,) = read(body(detail(NOW, "p", **more))).calls
    fits(item_of(call))


def fits(item: Mapping[str, Any]) -> None:
    """DynamoDB takes 1 to 2,048 bytes of partition key, 1 to 1,024 of sort key (service quotas), and no half a pair."""
    assert 1 <= len(item["name"]["S"].encode()) <= 2048
    assert 1 <= len(item["sk"]["S"].encode()) <= 1024
    assert all(isinstance(value["S"].encode(), bytes) for value in item.values())


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_it_is_noted_or_unreadable(data: st.DataObject) -> None:
    event = json.loads(body(detail(NOW, "p")))
    for path in data.draw(st.lists(st.sampled_from(paths(event)[1:]), min_size=1, max_size=3)):
        place: Any = event
        for key in path[:-1]:
            place = place[key] if isinstance(place, dict | list) and _has(place, key) else {}
        if isinstance(place, dict | list) and _has(place, path[-1]):
            place[path[-1]] = data.draw(JUNK)
    try:
        reading = read(json.dumps(event))
    except UnreadableError:
        return
    for call in reading.calls:
        fits(item_of(call))
        assert "AKIA" not in call.by
    notice = told_of(reading.calls) if reading.calls else None
    assert notice is None or notice.model_dump_json().encode()


def _has(place: dict[str, Any] | list[Any], key: Any) -> bool:  # noqa: ANN401 - a name or a place
    return key in place if isinstance(place, dict) else isinstance(key, int) and key < len(place)
