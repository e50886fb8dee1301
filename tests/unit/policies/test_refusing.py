"""A mistake is told once, where it is, with a way out; a broken example buries no mistake of the rule."""

from typing import Any

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
