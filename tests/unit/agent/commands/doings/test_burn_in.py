"""DCGM's verdict, in the forms of its versions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.commands.doing import Errand
from agent.commands.doings.burn_in import BurnsIn, read_results
from policies.contract.commands.operations import BurnIn
from tests.tools.node_programs import Programs
from tests.tools.process_tree import ProcessTree

MakeErrand = Callable[..., Errand]


def document(root: str, memory: str, **result: Any) -> str:  # noqa: ANN401 - JSON
    results = [{"status": memory, **result}, {"status": "Pass", **result}]
    categories = [
        {"category": "Deployment", "tests": [{"name": "software", "results": [{"status": "Pass"}]}, None]},
        {"category": "Hardware", "tests": [{"name": "memory", "results": results}]},
    ]
    return json.dumps({root: {"test_categories": categories}})


SKIPPED = json.dumps(
    {"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "a", "results": [{"status": "Skip"}]}]}]}}
)
V3 = document("DCGM GPU Diagnostic", "FAIL", gpu_ids="0")
V4 = document("DCGM Diagnostic", "Fail", entity_group="GPU", entity_id=0)


@pytest.fixture
def doing(tmp_path: Path) -> BurnsIn:
    return BurnsIn(ProcessTree(tmp_path / "proc", {}).path)


@pytest.mark.parametrize("text", [V3, V4, f"WARNING: this may take a while\n{V4}\n"])
def test_a_failed_test_is_named(doing: BurnsIn, programs: Programs, errand: MakeErrand, text: str) -> None:
    programs.add("dcgmi", f"cat <<'END'\n{text}\nEND\nexit 226")
    outcome = doing.run(BurnIn(level=2), errand())
    assert (outcome.ok, outcome.reason) == (False, "failed: memory")
    assert outcome.facts == {"passed": 2, "failed": 1, "level": 2}
    assert programs.calls() == ["dcgmi diag -r 2 -j"]


def test_all_passed_is_well(doing: BurnsIn, programs: Programs, errand: MakeErrand) -> None:
    programs.add("dcgmi", f"cat <<'END'\n{document('DCGM Diagnostic', 'Pass')}\nEND")
    outcome = doing.run(BurnIn(level=1), errand())
    assert (outcome.ok, outcome.reason) == (True, "3 tests passed")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'Error: unable to establish a connection to the specified host'; exit 255", "status 255"),
        ("echo '{}'", "no test ran"),
        ('echo \'{"DCGM Diagnostic": {"test_categories": 3}}\'', "no test ran"),
        ("echo '{ not json }'", "no test ran"),
        (f"echo '{SKIPPED}'", "no test ran"),
        ("exec sleep 60", "did not end within"),
    ],
)
def test_what_ran_no_test_is_no_success(
    doing: BurnsIn, programs: Programs, errand: MakeErrand, script: str, why: str
) -> None:
    programs.add("dcgmi", script)
    outcome = doing.run(BurnIn(level=1), errand(1.0))
    assert not outcome.ok
    assert why in outcome.reason


def test_while_somebody_computes_nothing_is_tested(tmp_path: Path) -> None:
    tree = ProcessTree(tmp_path / "proc", {})
    tree.add(100, "python3", "/dev/nvidia2")
    assert "python3 (100) holds a GPU" in BurnsIn(tree.path).why_not(BurnIn())


def test_a_test_that_was_broken_off_is_not_begun_again(doing: BurnsIn, programs: Programs, errand: MakeErrand) -> None:
    programs.add("dcgmi", "exit 0")
    assert not doing.look_back(BurnIn(), errand()).ok
    assert programs.calls() == []


def test_a_document_of_no_known_form_has_no_results() -> None:
    assert list(read_results("[" * 100_000)) == []
    assert list(read_results('{"a": {}}')) == []
