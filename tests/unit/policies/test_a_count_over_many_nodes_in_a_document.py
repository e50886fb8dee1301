"""What a policy that counts over many nodes may say, and how its examples are told."""

from typing import Any

import pytest

from policies.loader import load_document
from policies.model import Policy

WIDE: dict[str, Any] = {
    "name": "many-stalled",
    "mode": "active",
    "why": "They share a file server.",
    "when": 'event.kind == "storage.nfs_stalled"',
    "count": {"at_least": 3, "within": "10m", "per": "cluster", "distinct": "node.instance_id"},
    "do": ["page_operator"],
}
PER_JOB = {**WIDE["count"], "per": "job"}


def told(document: dict[str, Any]) -> str:
    loaded = load_document(document)
    return "" if isinstance(loaded, Policy) else "; ".join(str(problem) for problem in loaded)


def event(after: float, node: int, **more: object) -> dict[str, object]:
    return {"kind": "storage.nfs_stalled", "after": f"{after}s", "node": f"node-{node}", **more}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"do": ["isolate", "replace_node"]}, "isolate is done to a node, and a count per cluster accuses none."),
        ({"otherwise": ["reset_gpu"]}, "reset_gpu is done to a node, and a count per cluster accuses none."),
        ({"do": ["resume_job"]}, "resume_job is done to a run, and a count per cluster accuses none."),
        ({"count": PER_JOB, "do": ["restart_process"]}, "restart_process is done to a node, and a count per job"),
        ({"count": {"per": "rack"}, "for": "5m"}, "for and cancel_when look at one node, a count per rack at many:"),
        ({"cancel_when": 'event.kind == "storage.nfs_recovered"'}, "for and cancel_when look at one node"),
        ({"count": {**WIDE["count"], "distinct": "node.shelf"}}, "node.shelf is not known."),
        ({"count": {**WIDE["count"], "at_least": 51}}, "at_least is at most 50"),
    ],
)
def test_what_it_cannot_mean_is_refused(change: dict[str, Any], expected: str) -> None:
    assert expected in told({**WIDE, **change})


@pytest.mark.parametrize("per", ["job", "rack", "switch", "cluster"])
def test_each_scope_may_tell(per: str) -> None:
    assert told({**WIDE, "count": {**WIDE["count"], "per": per}, "do": ["alert", "page_operator"]}) == ""


def test_a_job_may_be_stopped_and_brought_back_for_what_its_nodes_tell() -> None:
    assert told({**WIDE, "count": PER_JOB, "do": ["collect_evidence", "resume_job"]}) == ""


@pytest.mark.parametrize(
    ("events", "findings"),
    [
        ([event(0, 1), event(20, 2), event(40, 3), event(60, 4)], 1),
        ([event(0, 1), event(20, 2), event(40, 1), event(60, 2)], 0),
        ([event(0, 1), event(20, 2), event(601, 3)], 0),
    ],
)
def test_examples_are_told_of_several_nodes(events: list[dict[str, object]], findings: int) -> None:
    example = {"says": "some nodes stall", "events": events, "findings": findings}
    assert told({**WIDE, "examples": [example]}) == ""
    assert "come out" in told({**WIDE, "examples": [{**example, "findings": findings + 1}]})


def test_examples_are_told_of_racks() -> None:
    count = {**WIDE["count"], "per": "rack"}
    here = [event(0, 1, rack="a"), event(1, 2, rack="a"), event(2, 3, rack="a")]
    there = [event(0, 1, rack="a"), event(1, 2, rack="a"), event(2, 3, rack="b"), event(3, 4, rack="b")]
    nowhere = [event(seconds, node) for seconds, node in enumerate((1, 2, 3))]
    examples = [
        {"says": "three of one rack", "events": here, "findings": 1},
        {"says": "two of each", "events": there, "findings": 0},
        {"says": "nobody knows where", "events": nowhere, "findings": 0},
    ]
    assert told({**WIDE, "count": count, "examples": examples}) == ""
    wrong = {"says": "nobody knows where", "events": nowhere, "findings": 1}
    assert "count.per: rack is not known" in told({**WIDE, "count": count, "examples": [wrong]})
