import os
from pathlib import Path
from typing import Any

import pytest

from agent.check_result import CheckResult
from agent.job.checks import checks
from agent.settings import Settings
from tests.tools.beats import beat, process
from tests.tools.cgroups import cgroup


def found(folder: Path, **more: Any) -> dict[str, CheckResult]:  # noqa: ANN401
    paths = {"beats": folder / "beats", "procfs": folder / "proc", "sysfs": folder / "sys"}
    quiet = {"container_runtime_socket": str(folder / "none.sock"), "kubelet_health": ""}
    settings = Settings.model_validate({"cluster": "c", "stream": "s", **paths, **quiet, **more})
    return {one.name: one for one in checks(settings)}


@pytest.fixture
def node(tmp_path: Path) -> Path:
    process(tmp_path / "proc", 1)
    process(tmp_path / "proc", 10)
    beat(tmp_path / "beats", "a", pid=10)
    beat(tmp_path / "beats", "b", pid=11)
    cgroup(tmp_path / "sys", "system.slice")
    return tmp_path


def test_what_works_is_said(node: Path) -> None:
    told = found(node)
    assert all(one.ok for one in told.values())
    assert told["beats"].found == f"2 processes beat in {node}/beats, 1 of them are here"
    assert told["processes"].found == "who holds one of 0 GPUs can be seen"
    assert told["cgroups"].found == "memory of version 2 is watched"
    assert told["runtime"].found.startswith("none at")
    assert (told["runtime"].state, told["beats"].state) == ("not_here", "works")


def test_what_does_not_work_says_what_to_do(tmp_path: Path) -> None:
    told = found(tmp_path)
    assert "install -d -m 1777" in told["beats"].found
    assert told["beats"].state == "not_here"
    assert "hostPID" in told["processes"].hint
    assert "sysfs" in told["cgroups"].hint


def test_a_mount_that_hides_kills_is_noticed(node: Path) -> None:
    (node / "proc/1/mounts").write_text("cgroup2 /sys/fs/cgroup cgroup2 rw,memory_localevents 0 0\n")
    assert "memory_localevents" in found(node)["cgroups"].found


def test_a_runtime_that_speaks_otherwise_is_noticed(node: Path) -> None:
    assert not found(node, container_runtime_socket="/" + "x" * 200)["runtime"].ok


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_who_may_not_look_is_told_how(node: Path) -> None:
    (node / "proc/1/fd").chmod(0)
    assert "CAP_SYS_PTRACE" in found(node)["processes"].hint
