"""The kernel kills a process of a cgroup that is full, and the agent tells whose it was and what its limit is."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent.job.cgroups.oom import OomPoll
from tests.tools.polling import bench
from tests.tools.sources import eventually

SYSFS = Path("/sys")
LIMIT = 48 << 20
EATER = "import sys; sys.stdin.readline(); held = [bytearray(1 << 20) for _ in range(400)]"


def parent() -> tuple[Path, str]:
    """Return the cgroup that a test may make its own in, and the name of a limit's file."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            return SYSFS / "fs/cgroup/memory" / path.lstrip("/"), "memory.limit_in_bytes"
    root = SYSFS / "fs/cgroup"
    if "memory" not in (root / "cgroup.subtree_control").read_text().split():
        pytest.skip("no cgroup here accounts for memory")
    return root, "memory.max"


@pytest.fixture
def full() -> Iterator[Path]:
    if os.geteuid():
        pytest.skip("making a cgroup needs root")
    try:
        above, limit = parent()
        folder = above / f"relight-test-{uuid.uuid4().hex[:12]}"
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    try:
        (folder / limit).write_text(str(LIMIT))
        for swap in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
            with suppress(OSError):
                (folder / swap).write_text("0" if swap == "memory.swap.max" else str(LIMIT))
        yield folder
    finally:
        eventually(lambda: _removed(folder))


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def test_a_real_out_of_memory_is_told_of_its_cgroup(full: Path) -> None:
    with bench() as work:
        assert work.poll(OomPoll(SYSFS), 0) == []
        with subprocess.Popen([sys.executable, "-c", EATER], stdin=subprocess.PIPE) as eater:
            (full / "cgroup.procs").write_text(str(eater.pid))
            eater.communicate(b"\n", timeout=60)
        assert eater.returncode == -signal.SIGKILL
        told: list[dict[str, Any]] = work.poll(OomPoll(SYSFS), 20)
    mine = [event for event in told if event["attributes"]["cgroup"].endswith(full.name)]
    assert [event["count"] for event in mine] == [1]
    assert mine[0]["attributes"]["by"] == "limit"
    assert mine[0]["attributes"]["limit_bytes"] == LIMIT
