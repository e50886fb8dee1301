from pathlib import Path

import pytest

from agent.check_result import CheckResult
from agent.gpu.checks import checks
from agent.settings import Settings
from tests.tools.nvml.state import NvmlState, built, environ, needs_compiler


def check(name: str, sysfs: Path, **settings: str) -> CheckResult:
    made = Settings.model_validate({"cluster": "c", "stream": "s", "sysfs": sysfs, **settings})
    return next(result for result in checks(made) if result.name == name)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NvmlState:
    state = NvmlState(tmp_path / "state")
    for name, value in environ(state, built()).items():
        monkeypatch.setenv(name, value)
    return state


@needs_compiler
@pytest.mark.usefixtures("state")
def test_it_says_which_gpus_and_driver(tmp_path: Path) -> None:
    found = check("nvml", tmp_path)
    assert (found.ok, found.found) == (True, "8 x NVIDIA H100 80GB HBM3, driver 570.148.08")


@needs_compiler
def test_it_says_which_gpu_does_not_answer(tmp_path: Path, state: NvmlState) -> None:
    state.gpu(3, error=15)
    found = check("nvml", tmp_path)
    assert not found.ok
    assert "GPU 3 (NVML code 15)" in found.found


@needs_compiler
def test_it_says_what_to_do_about_a_driver_that_does_not_fit(tmp_path: Path, state: NvmlState) -> None:
    state.library(module="580.95.05")
    found = check("nvml", tmp_path)
    assert not found.ok
    assert "reboot" in found.hint


@needs_compiler
def test_no_driver_and_no_gpu_is_no_failure(tmp_path: Path, state: NvmlState) -> None:
    state.library(init=9)
    assert check("nvml", tmp_path).state == "not_here"
    device = tmp_path / "bus" / "pci" / "devices" / "0000:53:00.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text("0x10de\n")
    (device / "class").write_text("0x030200\n")
    found = check("nvml", tmp_path)
    assert (found.state, found.found) == ("fails", "Driver Not Loaded; 1 GPUs on the bus")


def test_what_is_switched_off_is_said(tmp_path: Path) -> None:
    for name in ("nvml", "dcgm"):
        found = check(name, tmp_path, nvml="off", dcgm="off")
        assert (found.state, found.found) == ("not_here", f"switched off ({name})")


def test_dcgm_is_never_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = check("dcgm", tmp_path, nvml="off")
    assert (found.state, found.ok) == ("not_here", True)


def test_the_number_of_incidents_that_dcgm_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = Path(__file__).parents[3] / "data" / "dcgm" / "failure.json"
    (tmp_path / "dcgmi").write_text(f'#!/bin/sh\nwhile read -r line; do echo "$line"; done < {report}\n')
    (tmp_path / "dcgmi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "5 incidents" in check("dcgm", tmp_path, nvml="off").found
