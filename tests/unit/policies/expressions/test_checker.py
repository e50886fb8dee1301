"""A wrong expression is refused before it meets an event, with what to write instead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.expressions.checker import LONGEST, check
from policies.expressions.expression import compile_expression


@pytest.mark.parametrize(
    "text",
    [
        'event.kind == "gpu.xid" && event.attributes.xid == 79',
        'event.kind in ["gpu.xid", "gpu.lost"] && job.orchestrator == "eks"',
        'event.kind.startsWith("gpu.") && event.attributes.anything > 3',
        '["a", "b"].exists(x, event.message.contains(x))',
        "event.kind == 'gpu.xid' // a comment",
        'event.kind == "gpu\\u002exid"',
        "true",
    ],
)
def test_good_expressions_pass(text: str) -> None:
    assert check(text, "when") == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('event.kind == "gpu.xidd"', "'gpu.xidd' is no event.kind. Did you mean gpu.xid"),
        ('"gpu.xidd" != event.kind', "'gpu.xidd' is no event.kind"),
        ('event.kind in ["gpu.xid", "gpu.nope"]', "'gpu.nope' is no event.kind"),
        ('event.kind == "gpu\\u002exidd"', "'gpu.xidd' is no event.kind"),
        ('event.kind.startsWith("gpuu")', "no event.kind startsWith 'gpuu'"),
        ('event.severity == "fatal"', "'fatal' is no event.severity"),
        ('event.component.type == "gpus"', "'gpus' is no event.component.type"),
        ('node.gpu_architecture == "Hopper"', "Did you mean hopper"),
        ('event.kind == "gpu.xid" && event.attributes.xidd == 79', "gpu.xid has no attribute xidd. Did you mean xid"),
        ('event.attributes.xid == "79"', "event.attributes.xid holds a number, not '79'"),
        ("node.incidents_28d == true", "node.incidents_28d holds a number, never true"),
        ('node.incidents_28d.contains("3")', "node.incidents_28d holds a number; it has no contains"),
        ("!node.lemon_score", "node.lemon_score holds a number; by itself it is neither true nor false"),
        ("node.in_maintenance > 0", "node.in_maintenance is true or false and nothing else"),
        ('node.in_maintenance in ["yes"]', "node.in_maintenance is true or false, never "),
        ("neighbours.same_kind == 1", "neighbours.same_kind is not known. Did you mean neighbours.same_kind_"),
        ("neighbours > 1", "neighbours is not a single value. Name a member: neighbours.same_kind_cluster"),
        ("event.knd == 1", "event.knd is not known. Did you mean event.kind"),
        ("evnt.kind == 1", "evnt.kind is not known. Expressions read "),
        ("xid == 79", "xid is not known"),
        ('event.job.id == "a"', "event.job.id is not known. Write job.id"),
        ('event.component == "a"', "event.component is not a single value. Name a member: event.component.index"),
        ("event.attributes == 1", "Name a member: event.attributes.<name>"),
        ("event.attributes.a.b == 1", "event.attributes.a.b is not known"),
        ("now() > 1", "calls now, which is not known"),
        ('event.message.lower() == "a"', "calls lower, which is not known"),
        ('"A".lower() == "a"', "calls lower, which is not known"),
        ('event.message.matches("a(")', "no regular expression"),
        ('["a"].exists(x, ["b"].all(y, x == y))', "a macro inside a macro"),
        ("[1].all(x, x > 0) && [1].all(x, x > 0) && [1].all(x, x > 0)", "uses 3 macros"),
        ("(" * 21 + "true" + ")" * 21, "nests brackets 21 deep"),
        ("event.kind ==", "is no CEL"),
        ("", "is no CEL"),
        ("event.kind @ 1", "character 12: '@'"),
        ("event.count == 1" + " " * LONGEST, f"at most {LONGEST}"),
    ],
)
def test_bad_expressions_are_refused_with_a_hint(text: str, told: str) -> None:
    problems = check(text, "unless")
    assert problems
    assert told in " | ".join(str(problem) for problem in problems)
    assert all(problem.path == "unless" for problem in problems)


def test_names_inside_text_are_text() -> None:
    assert check('event.message.contains("evnt.knd == \\"gpu.nope\\" && (")', "when") == []


def test_a_macros_own_variable_is_no_member() -> None:
    assert check('["a"].exists(event_kind, event.message.contains(event_kind))', "when") == []
    problems = check('["a"].exists(x, true) && x == "a"', "when")
    assert "x is not known" in str(problems[0])


@given(st.text(max_size=60) | st.text(alphabet="event.kind \"=&|()[]{}'\\?:!xrbu0179,", max_size=60))
def test_junk_is_refused_or_can_be_compiled(text: str) -> None:
    if not check(text, "when"):
        compile_expression(text)
