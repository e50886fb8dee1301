"""Lint finds each kind of mistake where it is, and lets its good neighbour be."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policies.lint.codes import CODES, Level
from policies.lint.lint import Written, lint
from policies.model import Policy
from tests.tools.envelopes import SHIPPED
from tests.unit.policies.lint.mistakes import CASES, GOOD, NAME, WHEN, Case, document, flaws

PAGE = Path(__file__).parents[4] / "docs" / "policies.md"
TOGETHER = {"L106", "L114", "L115", "L801", "L802", "L803", "L804"}


def test_a_good_policy_has_no_flaw() -> None:
    assert flaws(document()) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_mistake_is_found_and_its_neighbour_is_let_be(case: Case) -> None:
    found = flaws(document(**case.bad))
    assert case.code in {flaw.code for flaw in found}, [str(flaw) for flaw in found]
    near = flaws(document(**case.good))
    assert case.code not in {flaw.code for flaw in near}, [str(flaw) for flaw in near]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_good_neighbour_is_accepted(case: Case) -> None:
    refused = [flaw for flaw in flaws(document(**case.good)) if flaw.level is Level.PROBLEM]
    assert refused == []


def test_every_code_is_tried() -> None:
    assert {case.code for case in CASES} | TOGETHER == set(CODES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_mistake_is_told_with_its_place_and_a_way_out(case: Case) -> None:
    (flaw, *_more) = [flaw for flaw in flaws(document(**case.bad)) if flaw.code == case.code]
    assert flaw.file
    assert flaw.line > 0
    assert flaw.reason
    assert (
        flaw.hint
        or flaw.code in {"L100", "L103", "L104", "L116", "L105", "L603"}
        or flaw.path in {"", "count"}
        or flaw.path.startswith("limits")
    )


@pytest.mark.parametrize("text", ["a: [", "name: a\nname: b", "- 1", "\tname: a", "a: &x 1\nb: *x", "a: !x 1", "{"])
def test_what_is_no_plain_yaml_is_one_problem(text: str) -> None:
    (linted,) = lint([Written("x.yaml", text)])
    assert linted.policy is None
    assert {flaw.code for flaw in linted.flaws} == {"L106"}


def test_the_line_is_that_of_the_field_in_the_file() -> None:
    text = (SHIPPED / "xid-79-fell-off-the-bus.yaml").read_text().replace("per: cluster", "per: moon")
    (linted,) = lint([Written("xid-79-fell-off-the-bus.yaml", text)])
    (flaw,) = linted.flaws
    assert "per: moon" in text.splitlines()[flaw.line - 1]
    assert str(flaw).startswith(f"xid-79-fell-off-the-bus.yaml:{flaw.line}: L103 problem: limits.replacements.per:")


def test_a_name_is_one_policys_and_its_files() -> None:
    found = flaws(document(), document(), names=[f"{NAME}.yaml", "other.yaml"])
    assert {"L114", "L115"} <= {flaw.code for flaw in found}
    assert all(flaw.file == "other.yaml" for flaw in found)
    assert flaws(document(), document(name="two", when='event.kind == "gpu.lost"', examples=[]))[0].code == "L502"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, "L801"),
        ({"when": 'event.attributes.xid == 79 && (event.kind in ["gpu.xid"])'}, "L801"),
        ({"do": ["isolate", "reset_gpu"]}, "L802"),
        ({"do": ["isolate", "reset_gpu"], "priority": -1}, "L803"),
        ({"when": f'{WHEN} && node.gpu_architecture == "hopper"', "priority": -1}, "L803"),
        ({"when": 'event.kind == "gpu.xid" && event.attributes.xid in [79, 95]'}, "L804"),
        ({"when": 'event.kind == "gpu.xid" && event.attributes.xid == 95'}, ""),
        ({"mode": "shadow"}, "L801"),
        ({"mode": "off"}, ""),
        ({"when": 'event.kind == "gpu.xid" && event.attributes.xid in [79, 95]', "unless": WHEN}, ""),
        ({"do": ["alert"]}, ""),
        ({"when": f'{WHEN} && node.gpu_architecture == "hopper"', "priority": 1}, ""),
    ],
)
def test_policies_that_do_not_go_together_are_told(changes: dict[str, object], code: str) -> None:
    other = document(**{"name": "other", "examples": GOOD["examples"][:1], **changes})
    told = {flaw.code for flaw in flaws(document(), other) if flaw.code.startswith("L8")}
    assert told == ({code} if code else set())


def test_every_code_stands_in_the_page_with_its_level_and_words() -> None:
    rows = re.findall(r"^\| `(L\d{3})` \| (\w+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(code, mistake.level.value, mistake.says) for code, mistake in CODES.items()]


_scalars = st.one_of(st.none(), st.booleans(), st.integers(-5, 10**6), st.floats(), st.text(max_size=20))
_junk = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_tokens = st.sampled_from(
    [
        "event.kind",
        "==",
        '"gpu.xid"',
        "&&",
        "||",
        "(",
        ")",
        "!",
        "event.attributes.xid",
        "79",
        "in",
        "[",
        "]",
        "?",
        ":",
        "<",
        "1.5",
        "-",
        "event.message",
        ".contains(",
        '"x"',
        ".matches(",
        "job.id",
        "has(",
        "true",
    ]
)


@given(st.text(max_size=300) | st.binary(max_size=300))
def test_no_text_makes_lint_raise(text: str | bytes) -> None:
    (linted,) = lint([Written("x.yaml", text)])
    assert linted.policy is not None or linted.flaws


@given(st.sampled_from([*Policy.model_fields, "count", "x"]), _junk)
def test_no_value_of_a_field_makes_lint_raise(field: str, value: object) -> None:
    text = yaml.safe_dump(document(**{field: value}), allow_unicode=True)
    (linted,) = lint([Written("x.yaml", text)])
    assert linted.policy is not None or linted.flaws


@given(st.lists(_tokens, max_size=14), st.lists(_tokens, max_size=8))
def test_no_condition_makes_lint_raise(when: list[str], unless: list[str]) -> None:
    made = document(when=" ".join(when), unless=" ".join(unless), examples=[], mode="active")
    flaws(made, document(name="other"))
