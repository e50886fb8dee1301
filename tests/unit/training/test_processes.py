"""Real processes: forked, spawned, killed, ended. Each says on standard output what it saw."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.beat_files import files_in, look, only_file

ROOT = Path(__file__).parents[3]
PATIENCE = 60


def eventually(holds: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def begin(folder: Path, script: str, *, at: Path | None = None) -> subprocess.Popen[str]:
    """Start *script* as a file, so that spawned children can import it."""
    path = (at or folder.parent) / "trains.py"
    path.write_text(script)
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "training"), "RELIGHT_BEATS": str(folder)}
    return subprocess.Popen([sys.executable, str(path)], env=environ, stdout=-1, stderr=-1, stdin=-1, text=True)


def run(folder: Path, script: str) -> tuple[str, str]:
    process = begin(folder, script)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out, err


def test_a_process_that_ends_in_order_leaves_nothing(folder: Path) -> None:
    out, _ = run(
        folder, f"import os\nfrom relight_training import beat\nbeat(step=1)\nprint(os.listdir({str(folder)!r}))"
    )
    assert ".beat" in out
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "end", ["raise RuntimeError('loss is nan')", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
)
def test_a_process_that_dies_leaves_its_last_beat_and_the_next_start_removes_it(folder: Path, end: str) -> None:
    process = begin(folder, f"from relight_training import beat\nbeat(step=41, phase='train')\n{end}")
    process.communicate(timeout=PATIENCE)
    seen = look(only_file(folder))
    assert (seen.step, seen.phase, seen.header["pid"]) == (41, 3, process.pid)
    run(folder, "from relight_training import beat\nbeat()")
    assert files_in(folder) == []


def test_a_stopped_process_keeps_its_file_when_others_start(folder: Path) -> None:
    process = begin(folder, "from relight_training import beat\nbeat(step=1)\nprint('up', flush=True)\ninput()")
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGSTOP)
        run(folder, "from relight_training import beat\nbeat()")
        assert look(only_file(folder)).header["pid"] == process.pid
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate("\n", timeout=PATIENCE)
    assert files_in(folder) == []


FORK = """
import os, sys
from relight_training import beat, beats
beat(step=1)
parents = beats.path()
child = os.fork()
if child == 0:
    assert beats.path() is None
    if sys.argv[1:] or os.environ.get("CHILD_BEATS"):
        beat(step=100)
        assert beats.path() != parents
        print(len(os.listdir(os.environ["RELIGHT_BEATS"])), flush=True)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
beat(step=2)
assert os.path.exists(parents)
print(open(parents, "rb").read()[32], len(os.listdir(os.environ["RELIGHT_BEATS"])))
"""


def test_a_forked_child_that_does_not_beat_has_no_file_and_takes_none_away(folder: Path) -> None:
    assert run(folder, FORK)[0] == "2 1\n"


def test_a_forked_child_that_beats_has_a_file_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHILD_BEATS", "1")
    assert run(folder, FORK)[0] == "2\n2 1\n"
    assert files_in(folder) == []


CHILDREN = """
import multiprocessing, os
from relight_training import beat, beats
beat(step=1)  # spawn runs this line in each child too

def work(number):
    beat(step=number)
    return beats.path() is not None

def rank(queue, number):
    os.environ["RANK"] = str(number)
    queue.put(work(number))

if __name__ == "__main__":
    context = multiprocessing.get_context(os.environ["METHOD"])
    with context.Pool(2) as pool:
        print("workers", set(pool.map(work, range(4))))
    queue = context.Queue()
    ranks = [context.Process(target=rank, args=(queue, number)) for number in range(2)]
    for one in ranks: one.start()
    print("ranks", {queue.get() for _ in ranks})
    for one in ranks: one.join()
    print("left", len([name for name in os.listdir(os.environ["RELIGHT_BEATS"]) if name.endswith(".beat")]))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_ranks_of_multiprocessing_have_files_and_daemonic_workers_have_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setenv("METHOD", method)
    out, err = run(folder, CHILDREN)
    assert out.splitlines() == ["workers {False}", "ranks {True}", "left 1"], err
    assert "relight" not in err
    assert files_in(folder) == []


def test_threads_share_one_file(folder: Path) -> None:
    script = """
import os, threading
from relight_training import beat
go = threading.Barrier(8)
def loop():
    go.wait()
    for step in range(500): beat(step=step)
threads = [threading.Thread(target=loop) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(len(os.listdir(os.environ["RELIGHT_BEATS"])))
"""
    assert run(folder, script)[0] == "1\n"


def test_a_beat_after_the_goodbye_leaves_nothing(folder: Path) -> None:
    script = """
import atexit
from relight_training import beat
atexit.register(lambda: print("last", beat(step=2)))  # registered first, called last: as a thread that beats to the end
beat(step=1)
"""
    assert run(folder, script)[0] == "last None\n"
    assert files_in(folder) == []


def test_whoever_looks_at_any_moment_sees_whole_fields(folder: Path) -> None:
    process = begin(
        folder, "from relight_training import beat\nbeat()\nprint(1, flush=True)\nwhile True: beat(step=2**40)"
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        path = only_file(folder)
        eventually(lambda: look(path).step != -1)
        before = look(path)
        for _ in range(20_000):
            seen = look(path)
            assert seen.step == 2**40
            assert seen.at_ns >= before.at_ns
            assert seen.beats >= before.beats
            before = seen
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_a_program_that_replaces_itself_leaves_one_file(folder: Path) -> None:
    script = """
import os, sys
from relight_training import beat
beat()
if "ONCE" not in os.environ:
    os.environ["ONCE"] = "1"
    os.execv(sys.executable, [sys.executable, __file__])
print(len(os.listdir(os.environ["RELIGHT_BEATS"])))
"""
    assert run(folder, script)[0] == "1\n"
