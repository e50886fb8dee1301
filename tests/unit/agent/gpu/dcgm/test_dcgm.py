import time
from pathlib import Path

import pytest

from agent.gpu.dcgm.command import DcgmError, health_report
from agent.gpu.dcgm.poll import DcgmPoll, judge_report
from agent.gpu.dcgm.report import BadReportError, Incident, parse_report
from agent.polls.reading import NotHereError
from tests.tools.polling import bench

DATA = Path(__file__).parents[4] / "data" / "dcgm"
FAILURE, HEALTHY = ((DATA / f"{name}.json").read_text() for name in ("failure", "healthy"))


def program(folder: Path, script: str) -> str:
    path = folder / "dcgmi"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def reasons(text: str, *, nvml: bool) -> list[tuple[str, str, int]]:
    with bench() as work:
        events = work.poll(DcgmPoll(lambda: text, lambda: nvml), 0)
    return [(one["attributes"]["reason"], one["severity"], one["component"]["index"]) for one in events]


def test_a_report_is_read_with_its_cut_texts() -> None:
    incidents = parse_report(FAILURE)
    assert len(incidents) == 5
    text = "Detected 2 volatile double-bit ECC errors in GPU 0. Drain the GPU and reset it or reboot the node."
    assert incidents[0] == Incident("GPU", 0, "Memory system", "Failure", text)
    assert parse_report(HEALTHY) == []


def test_words_before_the_report_are_passed_over() -> None:
    assert len(parse_report(f"Health monitor systems report\n{FAILURE}")) == 5


@pytest.mark.parametrize("text", ["", "Error: something", "{}", '{"body": 3}', '{"body": {"GPU": {}}}', "[1]", "{"])
def test_what_is_no_report_is_no_health(text: str) -> None:
    with pytest.raises(BadReportError):
        parse_report(text)


def test_while_nvml_is_read_dcgm_tells_what_it_alone_knows() -> None:
    assert reasons(FAILURE, nvml=True) == [("inforom", "error", 0)]


def test_without_nvml_it_tells_all_but_what_cries_wolf() -> None:
    assert reasons(FAILURE, nvml=False) == [("memory", "error", 0), ("inforom", "error", 0)]


@pytest.mark.parametrize(
    ("entity", "component", "device"),
    [
        ("GPU", {"type": "gpu", "index": 5}, None),
        ("GPU_I", {"type": "gpu"}, "GPU_I 5"),
        ("GPU_CI", {"type": "gpu"}, "GPU_CI 5"),
        ("CPU", {"type": "cpu", "index": 5}, None),
        ("Switch", {"type": "nvswitch", "index": 5}, None),
        ("NvSwitch", {"type": "nvswitch", "index": 5}, None),
    ],
)
def test_no_part_is_taken_for_another_of_the_same_number(
    entity: str, component: dict[str, object], device: str | None
) -> None:
    incident = Incident(entity, 5, "InfoROM system", "Failure", "corrupt")
    with bench() as work:
        (event,) = work.take(list(judge_report([incident], nvml_is_read=True)), 0)
    assert event["component"] == component
    assert event["attributes"].get("device") == device


def test_a_watch_that_is_well_again_is_over() -> None:
    texts = [FAILURE, *[HEALTHY] * 4]
    with bench() as work:
        poll = DcgmPoll(lambda: texts.pop(0), lambda: True)
        told = [event["kind"] for turn in range(5) for event in work.poll(poll, 60.0 * turn)]
    assert told == ["gpu.health_failed", "condition.cleared"]


def test_the_program_is_asked_for_the_watches_of_all_gpus(tmp_path: Path) -> None:
    assert health_report(program(tmp_path, 'echo "$@"')).split() == ["health", "-g", "0", "-c", "-j"]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'Error: unable to establish a connection to the specified host: localhost'; exit 1", "does not run"),
        ("echo 'Error: Health watches not enabled. Please enable watches. '; exit 255", "watches are off"),
    ],
)
def test_where_nobody_runs_it_there_is_nothing_to_measure(tmp_path: Path, script: str, why: str) -> None:
    with pytest.raises(NotHereError, match=why):
        health_report(program(tmp_path, script))


def test_without_the_program_there_is_nothing_to_measure(tmp_path: Path) -> None:
    with pytest.raises(NotHereError, match="not installed"):
        health_report(str(tmp_path / "dcgmi"))


def test_a_failure_is_told_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(DcgmError, match="status 3: The Group is not found"):
        health_report(program(tmp_path, "echo The Group is not found; exit 3"))


def test_it_may_neither_hang_nor_flood(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(DcgmError, match="did not end"):
        health_report(program(tmp_path, "exec sleep 600"), deadline=0.3)
    assert "more than" in flooded(program(tmp_path, "exec yes"))
    assert time.monotonic() - began < 60


def flooded(floods: str) -> str:
    """Return what is said of it within a second, or within as many as it takes here to begin."""
    said = ""
    for deadline in (1.0, 5.0, 25.0):
        with pytest.raises(DcgmError) as told:
            health_report(floods, deadline=deadline)
        said = str(told.value)
        if "more than" in said:
            break
    return said
