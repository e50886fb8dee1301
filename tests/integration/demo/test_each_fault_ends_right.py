"""The demo's other faults as a newcomer runs them: a hang, a memory limit, a silent machine, a lost adapter.

What the demo itself calls right is tested in tests/unit/local/demo; here it is held against what it reports.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local.demo.faults import STORIES

ROOT = Path(__file__).parents[3]
FAULTS = [name for name in STORIES if name != "xid"]  # that one has a file of its own


@dataclass(frozen=True)
class Told:
    name: str
    status: int
    lines: list[dict[str, Any]]
    report: dict[str, Any]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == kind]


@pytest.fixture(scope="module", params=FAULTS)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    report = tmp_path_factory.mktemp("demo") / "demo.json"
    command = [sys.executable, "-m", "console.main", "demo", "--fault", request.param]
    command += ["--json", "--deadline", "500", "--report", str(report)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert report.exists(), run.stdout + run.stderr
    return Told(request.param, run.returncode, lines, json.loads(report.read_text()))


def test_it_ends_as_it_should(told: Told) -> None:
    assert told.of("failed") == []
    assert told.status == 0


def test_its_stages_are_told_once_and_in_order(told: Told) -> None:
    assert [stage["name"] for stage in told.report["stages"]] == list(STORIES[told.name].expected.stages)


def test_a_node_is_replaced_only_where_a_node_is_at_fault(told: Told) -> None:
    [fault] = told.of("fault")
    replaced = STORIES[told.name].expected.replaces_node
    assert told.report["old_instance"] == fault["instance"]
    assert (told.report["new_instance"] is not None) == replaced
    assert ("node_fenced" in {stage["name"] for stage in told.of("stage")}) == (told.name == "silent")


def test_the_run_goes_on_once_from_a_complete_checkpoint(told: Told) -> None:
    report = told.report
    assert 0 < report["checkpoint"]["chosen_step"] == report["resumed_step"] < report["confirmed_step"]
    assert report["acts_repeated"] == 0
    assert report["events_lost"] == 0
    assert report["policy"] == STORIES[told.name].expected.policy
    assert report["alerts"] >= 2


def test_what_all_nodes_say_of_one_hang_is_one_incident(told: Told) -> None:
    joined = [stage for stage in told.of("stage") if stage["name"] == "joined"]
    assert told.name != "hang" or (joined and told.report["events_sent"] > 1)
