"""What is told of a kind before one comes is what our own sources tell of it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from policies.contract.vocabulary import ComponentType, Kind, Severity
from policies.expressions.attributes import ATTRIBUTES, TABLE
from policies.kinds import UNITS, about, common
from tests.unit.policies.expressions.test_attributes import rules

ROOT = Path(__file__).parents[3]
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for folder in ("agent", "functions/intake", "functions/sweep")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
# How bad a code is, or a GPU's rows, a table of the vendor's says, or a judge of its own.
BY_TABLE = {Kind.GPU_XID, Kind.NVSWITCH_SXID}
# What a number counts, or is the name of: it has no unit.
PLAIN = {
    *("caused_by", "compute_instance", "count", "epoch", "errors", "exit_code", "expected", "first_pid", "first_rank"),
    *("first_seq", "found", "free_inodes", "gpu_instance", "health_mask", "in_its_life", "last_seq", "link", "loss"),
    *("lost", "nvml_error", "pages_retired", "pid", "port", "rank", "recovery_action", "recovery_action_before"),
    *("rise", "rows_remapped", "sequence", "state", "step", "sxid", "threads", "times", "usual", "xid"),
}


def literals() -> Iterator[tuple[Kind, Severity]]:
    """Yield kind and severity of each call that is given both by name."""
    for text in SOURCES.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                given = [ast.unparse(value) for value in (*node.args, *(each.value for each in node.keywords))]
                kinds = [Kind[name] for one in given for name in re.findall(r"^Kind\.([A-Z0-9_]+)$", one)]
                bad = [Severity[name] for one in given for name in re.findall(r"^Severity\.([A-Z]+)$", one)]
                yield from ((kind, severity) for kind in kinds for severity in bad)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_says_how_bad_it_is(kind: Kind) -> None:
    found = about(kind)
    assert found.severities
    assert [each.rank for each in found.severities] == sorted({each.rank for each in found.severities})
    assert set(found.components) <= set(ComponentType)


def test_what_a_rule_of_a_parser_tells_is_known() -> None:
    for rule in rules():
        found = about(rule.kind)
        assert rule.severity in found.severities, rule.kind
        assert rule.component in found.components, rule.kind


def test_what_a_judge_tells_is_known() -> None:
    found = list(literals())
    assert len(found) > 40
    assert {(kind, severity) for kind, severity in found if severity not in about(kind).severities} == set()


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in BY_TABLE])
def test_no_severity_is_made_up(kind: Kind) -> None:
    texts = "\n".join(text for text in SOURCES.values() if f"Kind.{kind.name}" in text)
    helpers = "\n".join(text for path, text in SOURCES.items() if path.name in {"rows.py", "errors.py", "polls.py"})
    ends = {Severity.INFO} if kind is Kind.CONDITION_CLEARED else set()
    told = {each for each in Severity if f"Severity.{each.name}" in texts + helpers} | ends
    assert set(about(kind).severities) <= told


def test_every_number_has_its_unit_or_is_plain() -> None:
    numbers = {word[:-1] for row in TABLE.values() for word in row.split() if word.endswith("#")}
    assert numbers == set(UNITS) | PLAIN
    assert not set(UNITS) & PLAIN


def test_the_attributes_are_those_that_conditions_are_checked_by() -> None:
    both = {each.name for each in common()}
    for kind in Kind:
        told = about(kind).attributes
        assert (None if told is None else {each.name for each in told} | both) == ATTRIBUTES.get(kind.value)
