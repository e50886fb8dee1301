"""The table of attributes is what the agent really tells: nothing of it is missing, nothing is made up."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import parsers
from agent.parsers.rules import Rule
from policies.contract.vocabulary import Kind
from policies.expressions.attributes import ATTRIBUTES, COMMON, NUMERIC
from policies.expressions.checker import check

AGENT = Path(__file__).parents[4] / "agent"
OF_NO_FAULT = {"code", "event", "starts_at", "ends_at", "deadline", "noticed_at", "lasted_seconds"}  # EC2's, an end's
TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(AGENT.rglob("*.py"))
    if "Sighting(" in path.read_text(encoding="utf-8") or path.name in {"xid_details.py", "judge.py"}
}


def rules() -> list[Rule]:
    modules = [
        importlib.import_module(f"agent.parsers.{found.name}") for found in pkgutil.iter_modules(parsers.__path__)
    ]
    tables = [value for module in modules for value in vars(module).values() if isinstance(value, tuple)]
    return [rule for table in tables for rule in table if isinstance(rule, Rule)]


def told(tree: ast.AST) -> Iterator[str]:
    """Yield the keys of dicts that are said to be attributes, or that are handed to a `Sighting`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and "Scalar" in ast.unparse(node.annotation) and node.value is not None:
            yield from _keys(node.value)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Sighting":
            yield from (key for argument in node.args for key in _keys(argument))


def _keys(value: ast.AST) -> Iterator[str]:
    if isinstance(value, ast.Dict):
        yield from (key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def test_what_a_rule_of_a_parser_names_is_an_attribute_of_its_kind() -> None:
    found = [(rule.kind.value, set(rule.pattern.groupindex) - {"index"}) for rule in rules()]
    assert len(found) > 40
    missing = {kind: names - ATTRIBUTES[kind] for kind, names in found if kind in ATTRIBUTES}
    assert {kind: names for kind, names in missing.items() if names} == {}


def test_what_a_judge_of_the_agent_tells_is_in_the_table() -> None:
    known = frozenset().union(*ATTRIBUTES.values())
    found = {name: path.name for path, tree in TREES.items() for name in told(tree)}
    assert len(found) > 50
    assert {name: where for name, where in found.items() if name not in known | OF_NO_FAULT} == {}


def test_nothing_in_the_table_is_made_up() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(AGENT.rglob("*.py")))
    names = frozenset().union(*ATTRIBUTES.values())
    forms = ('"{0}"', "'{0}'", "?P<{0}>", "{0}=")
    assert {name for name in names if not any(form.format(name) in text for form in forms)} == set()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('event.kind == "gpu.xid" && event.attributes.caused_by == 79', ""),
        ('event.kind == "gpu.overheated" && event.attributes.reason == "memory"', ""),
        ('event.kind == "training.stalled" && event.attributes.phase == "train" && !has(event.attributes.symptom)', ""),
        ('event.kind == "gpu.overheated" && event.attributes.reasn == "memory"', "Did you mean reason"),
        ('event.kind == "container.oom_kill" && event.attributes.poduid == "x"', "Did you mean pod_uid"),
        ('event.kind == "training.stalled" && event.attributes.rank == "3"', "holds a number"),
        ('event.kind == "job.failed" && event.attributes.anything == "x"', ""),
        ('event.kind in ["gpu.xid", "job.failed"] && event.attributes.anything == "x"', ""),
    ],
)
def test_a_wrong_name_is_told_with_the_right_one(text: str, told: str) -> None:
    found = " | ".join(map(str, check(text, "when")))
    assert told in found
    assert bool(told) == bool(found)


def test_what_is_a_number_of_one_kind_and_a_text_of_another_is_taken_for_neither() -> None:
    assert "state" not in NUMERIC
    assert {"xid", "sxid", "recovery_action", "pid"} <= NUMERIC
    assert "ongoing?" in COMMON
    assert Kind.CONDITION_CLEARED.value not in ATTRIBUTES
