"""What is refused is said in words for whoever wrote it, none of them a library's, and places are counted from 1."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from policies.loader import load_document
from policies.model import Count, Policy, written_names
from policies.problems import place_of

BASE: dict[str, Any] = {"name": "a-name", "mode": "off", "why": "A test.", "when": "true", "do": ["alert"]}
EVENT = {"kind": "gpu.lost"}
JUNK: tuple[Any, ...] = (
    *("", "x" * 3000, "yes", "3d", "0s", "48h", 3.5, -1, 10**9, 10**400, True, None, [], [3], ["x"] * 60, {}),
    {"a": 1},
)
_STORY = ("says", "findings", "events", "facts", "until", "instance_type", "driver_version")
_EVENT = ("node", "rack", "after", "count", "severity", "message")
_GPU, _JOB = {"type": "gpu"}, {"id": "run", "orchestrator": "eks"}
_INNER: tuple[tuple[str, dict[str, str], str], ...] = (
    *(("component", _GPU, name) for name in ("type", "index", "uuid", "pci", "serial", "link")),
    *(("job", _JOB, name) for name in ("id", "orchestrator", "rank", "step", "epoch", "checkpoint", "world_size")),
    *(("attributes", {}, name) for name in ("xid", "of", "x" * 200)),
)
LIBRARY = re.compile(
    r"Input|should|String|Tuple|List|instance of|after validation|valid |\[key]|parse|Value error|union"
)


def documents() -> Iterator[dict[str, Any]]:
    for junk in JUNK:
        yield from ({**BASE, name: junk} for name in written_names(Policy))
        yield from ({**BASE, "count": {name: junk}} for name in written_names(Count))
        yield from (
            {**BASE, "limits": {"resets": {"within": "1h", name: junk}}} for name in ("at_most", "percent", "per")
        )
        yield {**BASE, "limits": {"a": junk}}
        for name in ("acts", "trust"):
            yield from ({**BASE, name: {field: junk}} for field in ("at_most", "within", "of", "at_least"))
        story = {"says": "x", "findings": 0, "events": [EVENT]}
        yield from (
            {**BASE, "examples": [{**story, name: junk}]} for name in ("says", "findings", "events", "facts", "until")
        )
        events = [{**EVENT, name: junk} for name in (*_EVENT, "attributes", "component", "job")]
        events += [{**EVENT, outer: {**inner, name: junk}} for outer, inner, name in _INNER]
        yield from ({**BASE, "examples": [{**story, "events": [each]}]} for each in events)


def told() -> list[str]:
    return [str(each) for made in documents() if isinstance(found := load_document(made), list) for each in found]


def test_no_word_of_a_library_reaches_a_person() -> None:
    found = told()
    assert len(found) > 400
    ours = (re.sub(r"'[^']*'|x{60,}", "", line) for line in found if " is no CEL: " not in line)
    assert [line for line in ours if LIBRARY.search(line)] == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"count": {"within": "3d"}}, "count.within: '3d' is greater than 1d."),
        ({"for": "1s"}, "for: '1s' is less than 10s."),
        ({"priority": 200}, "priority: 200 is greater than 100."),
        ({"do": ["alert", "isolat"]}, "do #2: 'isolat' is not known. Did you mean isolate?"),
        ({"why": 3}, "why: 3 is no text; put it in quotes."),
        ({"why": "x" * 600}, "why: has 600 characters, and at most 500 are taken."),
        (
            {"limits": {"reset": {"at_most": 1, "within": "1h"}}},
            "limits.reset: 'reset' is not known. Did you mean resets?",
        ),
        (
            {"examples": [{"says": "x", "findings": 0, "events": [{**EVENT, "attributes": {"xid": [79]}}]}]},
            "examples #1.events #1.attributes.xid: is neither text nor a number, nor true or false.",
        ),
    ],
)
def test_a_mistake_is_told_once_in_plain_words(changes: dict[str, Any], line: str) -> None:
    found = load_document({**BASE, **changes})
    assert isinstance(found, list)
    assert [str(each) for each in found] == [line]


def test_a_place_in_a_list_is_counted_as_people_count() -> None:
    assert place_of("examples.0.events.11.kind") == "examples #1.events #12.kind"
    assert place_of("count.within") == "count.within"
