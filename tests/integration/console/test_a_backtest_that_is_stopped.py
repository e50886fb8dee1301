"""A back-test in several processes leaves none of them behind, whoever ends it: Ctrl-C, or the kernel."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, put_history, revision
from tests.tools.sessions import processes_of

ROOT = Path(__file__).parents[3]
STOPPED = 130


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return an archive one of whose objects never ends, and is none of those that are looked at beforehand."""
    happened = [told for each in documents() for told in revision(head(each), NOW - timedelta(hours=1))]
    folder = put_history(tmp_path / "archive", happened, incidents(history(), Question(Revisions.of(happened))))
    endless = sorted((folder / "events").rglob("*.gz"))[1]
    endless.unlink()
    os.mkfifo(endless)
    return folder


def opened(archive: Path) -> int:
    """Return the end of the endless object into which nobody writes, 0 until it is read: held, the read lasts."""
    (endless,) = (each for each in (archive / "events").rglob("*.gz") if each.is_fifo())
    try:
        return os.open(endless, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return 0


@contextmanager
def asked(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run `relight` with *words* in a session of its own, none of whose processes outlives the test."""
    process = subprocess.Popen(
        [Path(sys.executable).with_name("relight"), *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left(told: signal.Signals, archive: Path, eventually: Callable[[Callable[[], Any]], Any]) -> None:
    words = ["policy", "backtest", "--events", str(archive), "--against", "current", "--jobs", "2"]
    with asked(words) as backtest:
        end = eventually(lambda: opened(archive))
        eventually(lambda: sum("spawn_main" in each for each in processes_of(backtest.pid)) == 2)
        if told is signal.SIGINT:
            os.killpg(backtest.pid, told)  # as a terminal sends it: to all of them
        else:
            backtest.kill()
        _, errors = backtest.communicate(timeout=120)
        os.close(end)
        assert "Traceback" not in errors
        assert backtest.returncode == (STOPPED if told is signal.SIGINT else -signal.SIGKILL), errors
        eventually(lambda: not processes_of(backtest.pid))
