"""What a change of an example looks like: the event that differs, not two blobs of JSON that are cut."""

from typing import Any

import pytest

from console.policy.diffing import Change, changes
from tests.tools.editing import DOCUMENT

EVENTS: list[dict[str, Any]] = [{"kind": "gpu.xid", "attributes": {"xid": xid}} for xid in (45, 79, 94)]
SAYS = "it fell off under 570.148.8"
CLOCK = {"kind": "host.clock_unsynchronised"}


def found(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[Change]:
    one, other = ({"examples": [{"says": SAYS, "events": events}]} for events in (before, after))
    return changes(one, other)


def place(at: int, rest: str = "") -> str:
    return f"examples.“{SAYS}”.events.{at}{rest}"


def shown(at: int, rest: str = "") -> str:
    """People count from 1."""
    return f"examples.“{SAYS}”.events #{at + 1}{rest}"


def test_of_an_event_that_changed_its_field_is_told() -> None:
    after = [EVENTS[0], {**EVENTS[1], "attributes": {"xid": 80}}, EVENTS[2]]
    (change,) = found(EVENTS, after)
    assert list(change.lines()) == [f"~ {shown(1, '.attributes.xid')}: 79 → 80"]
    assert change.document() == {"path": place(1, ".attributes.xid"), "before": 79, "after": 80}


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_an_event_that_was_put_in_or_taken_out_is_told_as_that(at: int) -> None:
    more = [*EVENTS[:at], CLOCK, *EVENTS[at:]]
    assert [list(change.lines()) for change in found(EVENTS, more)] == [
        [f'+ {shown(at)}: {{"kind": "host.clock_unsynchronised"}}']
    ]
    assert [list(change.lines()) for change in found(more, EVENTS)] == [
        [f'- {shown(at)}: {{"kind": "host.clock_unsynchronised"}}']
    ]


def test_events_that_repeat_are_counted_once_each() -> None:
    twice = [EVENTS[0], EVENTS[0]]
    assert [change.path for change in found([EVENTS[0]], twice)] == [place(1)]
    assert [change.path for change in found(twice, [])] == [place(0), place(1)]
    assert found(twice, twice) == []


def test_a_whole_example_that_is_new_or_gone_is_told_in_lines_that_end() -> None:
    (example, *_rest) = DOCUMENT["examples"]
    for before, after, sign in (([], [example], "+"), ([example], [], "-")):
        (change,) = changes({"examples": before}, {"examples": after})
        lines = list(change.lines())
        assert lines[0] == f"{sign} examples.“{example['says']}”:"
        assert len(lines) == 1 + len([key for key in example if key != "events"]) + len(example["events"])
        assert not any("…" in line for line in lines)
        assert f"    {sign} findings: {example['findings']}" in lines


def test_a_list_of_words_is_told_whole() -> None:
    (change,) = changes({"do": ["isolate"]}, {"do": ["isolate", "replace_node"]})
    assert list(change.lines()) == ['~ do: ["isolate"] → ["isolate", "replace_node"]']
