"""A trainer in a pid namespace of its own, as in a container that shares the node's folder of beats."""

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from relight_training.folder import namespace_of_pids, sweep
from tests.tools.beat_files import look, only_file

ROOT = Path(__file__).parents[3]
APART = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"]
SCRIPT = "import os\nfrom relight_training import beat\nbeat(step=1)\nprint(os.getpid(), flush=True)\ninput()"


@pytest.fixture
def contained(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is number 1 of its namespace, and has beaten once."""
    if shutil.which("unshare") is None or subprocess.run([*APART, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody make a pid namespace")
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "training"), "RELIGHT_BEATS": str(folder)}
    process = subprocess.Popen([*APART, sys.executable, "-c", SCRIPT], env=environ, stdin=-1, stdout=-1, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    yield process
    process.kill()
    process.communicate(timeout=60)


def silence(path: Path, seconds_since_boot: float) -> None:
    """Let the last beat have been then."""
    with path.open("r+b") as file:
        file.seek(24)
        file.write(struct.pack("<Q", int(seconds_since_boot * 1e9)))


def test_its_header_tells_its_own_pid_and_namespace(contained: subprocess.Popen[str], folder: Path) -> None:
    header = look(only_file(folder)).header
    assert header["pid"] == 1
    assert header["pid_namespace"] != namespace_of_pids()


def test_it_may_be_silent_for_as_long_as_it_lives_and_is_swept_after_it(
    contained: subprocess.Popen[str], folder: Path
) -> None:
    path = only_file(folder)
    silence(path, 2**33)  # a beat that lies ahead, as of another boot: nothing but its lock speaks for it
    assert sweep(str(folder), namespace_of_pids()) == []
    contained.kill()
    contained.communicate(timeout=60)
    until = time.monotonic() + 60
    while sweep(str(folder), namespace_of_pids()) != [str(path)]:  # the kernel may still be closing its files
        assert time.monotonic() < until
        time.sleep(0.01)
    assert not path.exists()
