"""How `for` is written, and how its examples are told."""

from typing import Any

import pytest

from policies.loader import load_document
from policies.model import Policy, written_names

GPU = {"type": "gpu", "pci": "0000:53:00"}
HOT = {"kind": "gpu.overheated", "component": GPU}
GOOD: dict[str, Any] = {
    "name": "hot-for-long",
    "mode": "active",
    "why": "for a test",
    "when": 'event.kind == "gpu.overheated"',
    "for": "5m",
    "do": ["alert"],
}


def told(**changes: Any) -> str:  # noqa: ANN401 - fields of a document
    loaded = load_document({**GOOD, **changes})
    return "" if isinstance(loaded, Policy) else " | ".join(map(str, loaded))


def example(findings: int, *events: dict[str, Any], until: str = "10m") -> list[dict[str, Any]]:
    return [{"says": "a story", "events": list(events), "until": until, "findings": findings}]


def test_for_is_a_field_as_it_is_written() -> None:
    loaded = load_document(GOOD)
    assert isinstance(loaded, Policy)
    assert loaded.dwell == 300.0
    assert "for" in written_names(Policy)
    assert "dwell" not in written_names(Policy)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"for": "5"}, "for: '5' is not a duration"),
        ({"for": "1s"}, "for: '1s' is less than 10s."),
        ({"dwell": "5m"}, "dwell: is no field of a policy."),
        ({"fr": "5m"}, "Did you mean for?"),
        ({"count": {"at_least": 3}}, "for asks how long one condition holds, so of count only per goes with it."),
        ({"count": {"per": "node"}}, ""),
    ],
)
def test_what_for_goes_with(changes: dict[str, Any], expected: str) -> None:
    assert expected in told(**changes)
    assert bool(expected) == bool(told(**changes))


def test_an_example_goes_on_with_heartbeats_until_the_condition_has_held_for_so_long() -> None:
    cleared = {"kind": "condition.cleared", "component": GPU, "attributes": {"of": "gpu.overheated"}}
    assert told(examples=example(1, HOT)) == ""
    assert told(examples=example(0, HOT, until="4m")) == ""
    assert told(examples=example(0, HOT, {**cleared, "after": "4m"})) == ""
    assert told(examples=example(1, HOT, {**cleared, "after": "6m"})) == ""
    assert "says 0 findings, but 1 come out" in told(examples=example(0, HOT))


def test_an_example_without_heartbeats_fulfils_nothing() -> None:
    assert told(examples=[{"says": "silence", "events": [HOT], "findings": 0}]) == ""
