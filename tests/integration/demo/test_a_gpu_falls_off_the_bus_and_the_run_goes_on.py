"""The demo as a newcomer runs it, without a terminal: the whole story, told twice, as lines and as a report.

Its world is held open afterwards, another terminal speaks to it, and SIGTERM ends it.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from local.demo.report import STAGES
from local.fleet.nodes import GPUS_PER_NODE
from tests.tools.sessions import processes_of
from tests.tools.sources import eventually

ROOT = Path(__file__).parents[3]
RELIGHT = [sys.executable, "-m", "console.main"]
# What a terminal may know of AWS: an address for one service, which counts before that of all, and a profile.
ELSEWHERE = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9", "AWS_PROFILE": "prod", "POLICIES_TABLE": "prod"}
PRACTICE = "set -eu; {source}; relight policy list --json; relight incident list --closed --json; echo 94 > {file}"
ENDED = "relight demo: done, nothing is left behind."
HINT = "relight demo: its archive lies in {0}; tell it again: relight policy backtest --events {0}"


@dataclass(frozen=True)
class Told:
    status: int
    lines: list[dict[str, Any]]
    report: dict[str, Any]
    errors: str
    archive: Path
    practice: list[dict[str, Any]]  # what the other terminal was answered, then what was told of the GPU that it broke
    session: int
    left: list[Path]  # in the folder for temporary files

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == kind]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("demo")
    report, archive = folder / "demo.json", folder / "archive"
    temporary = folder / "tmp"
    temporary.mkdir()
    command = [*RELIGHT, "demo", "--json", "--report", str(report), "--archive", str(archive), "--deadline", "500"]
    demo = subprocess.Popen(
        [*command, "--hold-for", "10"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    with demo:
        assert demo.stdout is not None
        lines: list[dict[str, Any]] = []
        practice: list[dict[str, Any]] = []
        for line in demo.stdout:
            lines.append(json.loads(line))
            if lines[-1]["type"] == "held":
                practice = [*practise(lines[-1]), json.loads(demo.stdout.readline())]
                demo.send_signal(signal.SIGTERM)
        _, errors = demo.communicate(timeout=120)
    assert report.exists(), f"{lines} {errors}"
    left = list(temporary.iterdir())
    return Told(demo.returncode, lines, json.loads(report.read_text()), errors, archive, practice, demo.pid, left)


def practise(held: dict[str, Any]) -> list[dict[str, Any]]:
    """Speak to the world as another terminal does, and break a GPU of it."""
    script = PRACTICE.format(source=held["source"], file=held["break_file"])
    environment = {**os.environ, **ELSEWHERE}
    run = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=environment, timeout=300, check=True)
    answers, text, decoder = [], run.stdout.strip(), json.JSONDecoder()
    while text:
        answer, end = decoder.raw_decode(text)
        answers.append(answer)
        text = text[end:].strip()
    return answers


def test_the_demo_succeeds(told: Told) -> None:
    assert told.of("failed") == []
    assert told.status == 0
    assert told.errors.splitlines() == [HINT.format(told.archive), ENDED]


def test_another_terminal_speaks_to_the_world_that_is_held_open_and_to_no_other(told: Told) -> None:
    policies, incidents, broken = told.practice
    assert told.report["policy"] in json.dumps(policies)
    assert told.report["incident_id"] in json.dumps(incidents)
    assert (broken["type"], broken["xid"]) == ("fault", 94)
    assert [held["minutes"] for held in told.of("held")] == [10]


def test_a_world_that_was_held_open_leaves_no_process_and_no_file(told: Told) -> None:
    eventually(lambda: processes_of(told.session) == [])  # what was killed may take a moment to be gone
    assert told.left == []


def test_every_stage_is_told_once_and_in_order(told: Told) -> None:
    assert [stage["name"] for stage in told.report["stages"]] == list(STAGES)
    seconds = [stage["seconds"] for stage in told.report["stages"]]
    assert 0 <= seconds[0] < 60
    assert seconds[0] < seconds[-1] < 500
    assert {stage["name"] for stage in told.of("stage")} >= set(STAGES)


def test_one_instance_is_replaced_by_another(told: Told) -> None:
    (fault,) = told.of("fault")
    assert told.report["old_instance"] == fault["instance"]
    assert told.report["new_instance"].startswith("i-")
    assert told.report["new_instance"] != told.report["old_instance"]
    assert told.report["policy"] == "xid-79-fell-off-the-bus"


def test_the_torn_checkpoint_is_refused_and_the_one_before_it_chosen(told: Told) -> None:
    chosen = told.report["checkpoint"]["chosen_step"]
    torn = told.report["checkpoint"]["refused"][0]
    assert torn["step"] > chosen > 0
    assert torn["reason"]
    assert told.report["resumed_step"] == chosen
    assert told.report["confirmed_step"] > chosen


def test_nothing_is_lost_nothing_is_done_twice_and_somebody_is_told(told: Told) -> None:
    assert told.report["events_sent"] >= 1
    assert told.report["events_lost"] == 0
    assert told.report["acts_repeated"] == 0
    assert told.report["alerts"] >= 2
    assert told.report["gpu_hours_lost"] > 0


@pytest.fixture(scope="module")
def answer(told: Told) -> dict[str, Any]:
    command = [*RELIGHT, "policy", "backtest", "--events", str(told.archive), "--all", "--json"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_a_back_test_of_its_archive_decides_the_same(told: Told, answer: dict[str, Any]) -> None:
    assert {matter["difference"] for matter in answer["matters"]} == {"same"}
    acted = [matter["after"] for matter in answer["matters"] if matter["after"]["acts"]]
    assert [one["incident"] for one in acted] == [told.report["incident_id"]]
    assert [decided(matter["before"]) for matter in answer["matters"]] == [
        decided(matter["after"]) for matter in answer["matters"]
    ]
    assert answer["after"]["counts"]["lost"] == 0


def test_a_back_test_counts_all_of_the_run_s_gpus_as_the_demo_does(told: Told, answer: dict[str, Any]) -> None:
    """The same GPUs: the demo from the save that the run went back to, a back-test while acts had it stand still."""
    reached = {stage["name"]: datetime.fromisoformat(stage["at"]) for stage in told.report["stages"]}
    hours = (reached["confirmed"] - reached["job_suspended"]).total_seconds() / 3600
    for side in ("before", "after"):
        assert answer[side]["gpu_hours"]["stopped"] == pytest.approx(8 * GPUS_PER_NODE * hours, abs=0.0006)


def test_its_incident_is_recorded_from_the_archive_as_an_example_without_names(told: Told) -> None:
    incident = told.report["incident_id"]
    command = [*RELIGHT, "policy", "record", incident[:12], "--events", str(told.archive), "--json"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    answer = json.loads(run.stdout)
    assert (answer["incident"], answer["policy"], answer["from"]) == (incident, told.report["policy"], "archive")
    assert (answer["passes"], answer["as_it_was"], answer["unreadable_lines"]) == (True, True, 0)
    assert {event["attributes"]["xid"] for event in answer["example"]["events"]} == {79}
    assert told.report["old_instance"] not in answer["yaml"]


def decided(deed: dict[str, Any]) -> tuple[Any, ...]:
    """What was decided; the replay has its own moments, since nothing on its way takes time."""
    rungs = [act["rung"] for act in deed["acts"]]
    return deed["incident"], deed["finding"], deed["policy"], deed["revision"], deed["outcome"], rungs
