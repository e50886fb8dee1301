"""Ctrl-C goes to the whole group of processes, as a terminal sends it."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.tools.sources import eventually

ROOT = Path(__file__).parents[3]
INTERRUPTED = 130


def processes_of(session: int) -> list[str]:
    """What still runs in this session, without zombies that nobody has collected yet."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, _, rest = (entry / "stat").read_text().rpartition(")")
            words = rest.split()  # state, parent, group, session
            if int(words[3]) == session and words[0] != "Z":
                found.append(name + " " + (entry / "cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


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
