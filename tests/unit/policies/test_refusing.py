"""A mistake is told once, where it is, with a way out; a broken example buries no mistake of the rule."""

from typing import Any

import pytest

from policies.lint.lint import Written, lint
from policies.loader import load_document
from policies.problems import Problem

GOOD: dict[str, Any] = {
    "name": "ours",
    "mode": "active",
    "why": "A test.",
    "when": 'event.kind == "gpu.lost"',
    "do": ["alert"],
}


def problems(**fields: Any) -> list[Problem]:  # noqa: ANN401 - fields of a document
    loaded = load_document({**GOOD, **fields})
    assert isinstance(loaded, list)
    return loaded


def example(*events: object) -> dict[str, Any]:
    return {"says": "a story", "events": list(events), "findings": 1}


def test_a_wrong_event_is_told_and_not_that_its_list_is_short_of_it() -> None:
    (problem,) = problems(examples=[example({"kind": "gpu.lots"})])
    assert (problem.path, problem.hint) == ("examples.0.events.0.kind", "Did you mean gpu.lost?")
    (problem,) = problems(examples=[{"says": "nothing", "events": [], "findings": 0}])
    assert problem.path == "examples.0.events", "a list that is short by itself is"


def test_a_mistake_of_the_rule_comes_before_those_of_its_examples() -> None:
    found = problems(examples=[example({"kindd": "gpu.lost"})] * 8, settle="soon", mode="activ")
    assert [each.path for each in found[:2]] == ["mode", "settle"]
    assert len(found) == 11
    assert found[-1].reason.startswith("has ")


def test_a_field_that_is_none_is_compared_with_those_of_its_place() -> None:
    (problem,) = problems(count={"at_leest": 3})
    assert (problem.path, problem.hint) == ("count.at_leest", "Did you mean at_least?")
    (problem,) = problems(limits={"replacements": {"at_mots": 3, "within": "1h", "percent": 5}})
    assert problem.hint == "Did you mean at_most?"
    (problem,) = problems(unles="true")
    assert (problem.reason, problem.hint) == ("is no field of a policy.", "Did you mean unless?")


def test_what_is_no_mapping_is_told_so() -> None:
    (problem,) = problems(count="three")
    assert (problem.path, problem.reason) == ("count", "is no mapping of fields, but three.")


def test_lint_tells_every_mistake_each_at_its_line() -> None:
    events = "".join(f"      - {{kind: gpu.lots, count: {number}}}\n" for number in range(1, 15))
    text = (
        "name: ours\nmode: activ\nwhy: A test.\nwhen: event.kind == 'gpu.lost'\ndo: [alert]\n"
        f"examples:\n  - says: many\n    findings: 1\n    events:\n{events}"
    )
    (linted,) = lint([Written("ours.yaml", text)])
    assert [flaw.line for flaw in linted.flaws] == [2, *range(10, 24)]


def test_what_can_be_told_at_once_is_told_at_once() -> None:
    text = (
        "name: ours\nmode: active\nwhy: A test.\nwhen: event.kind == 'gpu.lots'\nsettle: 5\ndo: [replace_node]\n"
        "otherwise: [record, record]\nfor: 5m\ncount: {at_least: 3, distinct: job.shoe}\n"
        "examples:\n  - {says: one, findings: 1, events: [{kind: gpu.lots}]}\n"
    )
    (linted,) = lint([Written("ours.yaml", text)])
    assert [(flaw.line, flaw.code, flaw.path) for flaw in linted.flaws] == [
        (4, "L203", "when"),
        (5, "L104", "settle"),
        (6, "L110", "do"),
        (7, "L108", "otherwise"),
        (8, "L407", "for"),
        (9, "L202", "count.distinct"),
        (11, "L103", "examples.0.events.0.kind"),
    ]


def test_a_mistake_is_no_reason_to_tell_of_another_that_is_none() -> None:
    """What rests on a field that is wrong, or missing, is not told: nobody knows what it will be."""
    (problem,) = problems(settle="20m", deadline=30)
    assert problem.path == "deadline"
    (problem,) = problems(do=["isolat", "replace_node"])
    assert (problem.path, problem.hint) == ("do.0", "Did you mean isolate?")
    assert [each.path for each in problems(when=3, count={"per": "rack", "at_leest": 3}, do=["isolate"])] == [
        "when",
        "count.at_leest",
    ]


def test_one_action_that_stands_by_itself_is_told_to_be_a_list() -> None:
    (problem,) = problems(do="isolate")
    assert str(problem) == "do: is a list. Write do: [isolate]."
    (problem,) = problems(otherwise={"isolate": "first"})
    assert str(problem) == "otherwise: is a list. Write `[one, another]`."


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("do: [alert, record]\n", 5),
        ("do: [alert]\nsettle: 20m\n", 6),
        ("do: [isolate]\ncount: {per: rack}\n", 5),
        ("do: [alert]\ncount: {per: rack}\ncancel_when: event.kind == 'gpu.reset'\n", 7),
    ],
)
def test_what_does_not_go_together_is_told_where_it_is_mended(fields: str, line: int) -> None:
    text = f"name: ours\nmode: active\nwhy: A test.\nwhen: event.kind == 'gpu.lost'\n{fields}"
    (linted,) = lint([Written("ours.yaml", text)])
    assert [flaw.line for flaw in linted.flaws] == [line]
