"""A document is a policy or a list of problems, whatever it holds; reading it never raises."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.vocabulary import Action, PolicyMode
from policies.documents import fingerprint, operators_fields
from policies.loader import load_document, load_text
from policies.model import Policy
from policies.problems import Problem
from policies.refusing import MOST_PROBLEMS
from policies.yaml_text import LARGEST_BYTES

GOOD: dict[str, Any] = {
    "name": "repeated-uncorrected-ecc",
    "mode": "active",
    "why": "Three separate uncorrected errors of one GPU within an hour mean a failing part.",
    "when": 'event.kind == "gpu.ecc_uncorrected" && node.gpu_architecture in ["ampere", "hopper"]',
    "count": {"at_least": 3, "within": "1h", "per": "component", "occurrence": "30s"},
    "unless": "node.in_maintenance",
    "settle": "20s",
    "evidence": "latched",
    "do": ["isolate", "replace_node", "resume_job"],
    "otherwise": ["page_operator"],
    "limits": {"replacements": {"at_most": 2, "within": "10m", "per": "cluster"}},
    "deadline": "5m",
}


def problems(document: Mapping[Any, Any]) -> list[Problem]:
    loaded = load_document(document)
    assert isinstance(loaded, list)
    return loaded


def told(document: Mapping[Any, Any]) -> str:
    return " | ".join(str(problem) for problem in problems(document))


def test_yaml_and_item_are_the_same_policy() -> None:
    item = {**GOOD, "count": {**GOOD["count"], "at_least": Decimal(3)}, "sk": "live", "verdict": {"status": "rejected"}}
    from_item, from_yaml = load_document(item), load_text(yaml.safe_dump(GOOD))
    assert isinstance(from_item, Policy)
    assert from_item == from_yaml
    assert fingerprint(item) == fingerprint(GOOD)
    plan = from_item.plan(7)
    assert (plan.name, plan.revision, plan.mode) == (GOOD["name"], 7, PolicyMode.ACTIVE)
    assert (plan.settle_seconds, plan.deadline_seconds) == (20.0, 300.0)
    assert plan.do == (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"mode": "on"}, "mode: 'on' is not known. Known: active, shadow, off."),
        ({"name": "Bad Name"}, "Use lower-case words joined by hyphens"),
        ({"unles": "true"}, "unles: is no field of a policy. Did you mean unless?"),
        ({"count": {"at_leas": 3}}, "count.at_leas: is no field of a policy."),
        ({"count": {"within": 10}}, "count.within: is not a duration; write it with its unit"),
        ({"count": {"within": "3d"}}, "count.within: '3d' is greater than 1d."),
        (
            {"count": {"per": "room"}},
            "count.per: 'room' is not known. Known: component, node, job, rack, switch, cluster.",
        ),
        ({"count": {"at_least": 2, "within": "10s", "occurrence": "30s"}}, "occurrence is longer than within"),
        ({"count": {"at_least": 51, "occurrence": "1s"}}, "at_least is at most 50"),
        ({"count": {"distinct": "job.name"}}, "count.distinct: job.name is not known"),
        ({"do": []}, "do: needs at least one entry."),
        ({"do": ["replace"]}, "do #1: 'replace' is not known. Did you mean replace_node?"),
        ({"do": ["replace_node"]}, "isolate comes before replace_node"),
        ({"do": ["record", "alert"]}, "record stands alone"),
        ({"do": ["isolate", "isolate"]}, "name each action once"),
        ({"when": 'event.kind == "gpu.nope"'}, "when: 'gpu.nope' is no event.kind"),
        ({"unless": "node.maintenance"}, "unless: node.maintenance is not known. Did you mean node.in_maintenance"),
        ({"limits": {"replacements": {"within": "1h"}}}, "give either at_most or percent"),
        ({"limits": {"repairs": {"at_most": 1, "within": "1h"}}}, "limits.repairs"),
        ({"deadline": "10s", "settle": "20s"}, "settle is as long as the deadline"),
        ({"approval": "yes"}, "approval: 'yes' is neither true nor false."),
        ({"priority": 3.5}, "priority: 3.5 is no whole number."),
        ({"examples": [{"says": "x", "events": [], "findings": 0}]}, "examples #1.events"),
    ],
)
def test_a_bad_field_is_named_with_what_to_write(change: dict[str, Any], expected: str) -> None:
    assert expected in told({**GOOD, **change})


def test_missing_fields_are_named() -> None:
    assert {problem.path for problem in problems({"name": "x"})} == {"mode", "why", "when", "do"}


def test_an_example_that_ends_otherwise_is_a_problem() -> None:
    event = {"kind": "gpu.ecc_uncorrected", "component": {"type": "gpu", "index": 1}}
    late = [{**event, "after": after} for after in ("0s", "10m", "20m")]
    fires = {"says": "three in twenty minutes", "events": late, "findings": 1}
    burst = {"says": "companions are one", "events": [event, event, event], "findings": 0}
    assert isinstance(load_document({**GOOD, "examples": [fires, burst]}), Policy)
    wrong = told({**GOOD, "examples": [fires, {**burst, "findings": 1}]})
    assert "examples #2: says 1 findings, but 0 come out (companions are one)." in wrong


def test_the_examples_of_a_policy_that_is_off_are_run_as_well() -> None:
    event = {"kind": "gpu.ecc_uncorrected"}
    assert "examples #1" in told({**GOOD, "mode": "off", "examples": [{"says": "x", "events": [event], "findings": 1}]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: x\nname: y", "name stands twice"),
        ("a: &x [1]\nb: *x", "line 1 has an anchor or alias"),
        ("a: !!python/object/apply:os.system [ls]", "line 1 has a tag"),
        ("a: !ruby/object x", "has a tag"),
        ("a: [1", "is no YAML: line 1"),
        ("- a\n- b", "is no mapping of fields"),
        ("just words", "is no mapping of fields"),
        ("", "is no mapping of fields"),
        ("[" * 5000, "nested deeper than 12 levels"),
        ("a: 1\n---\nb: 2", "is no YAML"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        ("a: " + "x" * LARGEST_BYTES, f"at most {LARGEST_BYTES}"),
        ("a: " + "9" * 5000, "cannot be read (ValueError)"),
    ],
)
def test_dangerous_or_broken_yaml_is_refused(text: str | bytes, expected: str) -> None:
    loaded = load_text(text)
    assert isinstance(loaded, list)
    assert expected in str(loaded[0])


def test_words_and_times_of_old_yaml_stay_text() -> None:
    text = yaml.safe_dump(GOOD).replace("mode: active", "mode: off").replace("why: Three", "why: 2001-01-01 Three")
    loaded = load_text(text)
    assert isinstance(loaded, Policy)
    assert loaded.mode is PolicyMode.OFF
    assert loaded.why.startswith("2001-01-01")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"\x00", "x: is binary or of a type no policy has (bytes)"),
        (Decimal("Infinity"), "x: is no finite number"),
        ({"a": [b""]}, "x.a #1: is binary"),
    ],
)
def test_values_that_only_dynamodb_has_are_refused_by_path(value: object, expected: str) -> None:
    assert expected in told({**GOOD, "x": value})


def test_a_huge_item_gets_a_short_answer() -> None:
    many = problems({**GOOD, **{f"junk{number}": "x" * 10 for number in range(500)}})
    assert len(many) == MOST_PROBLEMS + 1
    assert str(many[-1]) == "document: has 490 more problems."
    assert "at most 65536" in told({"name": "x", "junk": "x" * 400_000})
    assert len(told({**GOOD, "k" * 5000: 1})) < 1000


def test_the_fingerprint_sees_the_operators_fields_only() -> None:
    verdict = {"verdict": {"status": "accepted"}, "sk": "live", "edited_by": "a", "edited_at": "b"}
    assert fingerprint({**GOOD, **verdict}) == fingerprint(GOOD)
    assert fingerprint({**GOOD, "why": "another"}) != fingerprint(GOOD)
    assert fingerprint({**GOOD, "x": b"1"}) != fingerprint({**GOOD, "x": b"2"})
    assert set(operators_fields({**GOOD, **verdict})) == set(GOOD)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=5)
    | st.decimals(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*GOOD, "examples", "cites", "priority"]), JUNK, max_size=14))
def test_no_junk_in_any_field_makes_it_raise(junk: dict[str, Any]) -> None:
    loaded = load_document({**GOOD, **junk})
    if not isinstance(loaded, Policy):
        assert loaded
        assert all(problem.reason for problem in loaded)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_no_text_makes_it_raise(text: str | bytes) -> None:
    assert isinstance(load_text(text), list)
