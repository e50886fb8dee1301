"""Ctrl-C goes to the whole group of processes, as a terminal sends it."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.tools.sessions import processes_of
from tests.tools.sources import eventually

ROOT = Path(__file__).parents[3]
INTERRUPTED = 130


@pytest.mark.parametrize("moment", ["starting the embedded AWS", "starting the training job"])
def test_ctrl_c_ends_it_cleanly(moment: str, tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "console.main", "demo", "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if json.loads(line).get("text", "").startswith(moment):
            break
    threading.Event().wait(0.3)
    os.killpg(demo.pid, signal.SIGINT)
    _, errors = demo.communicate(timeout=120)
    assert demo.returncode == INTERRUPTED, errors
    assert "Traceback" not in errors
    eventually(lambda: processes_of(demo.pid) == [])  # what was killed may take a moment to be gone
    assert list(tmp_path.iterdir()) == []
