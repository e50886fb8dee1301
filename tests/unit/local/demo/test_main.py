"""How the demo leaves the machine, and what it says of that."""

import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import cast

import pytest

from console import main as console
from local.demo import main as demo
from local.demo.display import Teller
from local.demo.holding import World


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(made))
    return made


def run(monkeypatch: pytest.MonkeyPatch, *, keep: bool, interrupted: bool) -> int:
    def tell(*_args: object) -> int:
        if interrupted:
            raise KeyboardInterrupt
        return demo.DONE

    monkeypatch.setattr(demo, "_tell", tell)
    return demo.run_demo(report=None, as_json=True, keep=keep, deadline_seconds=30)


def test_data_that_is_kept_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, keep=True, interrupted=False) == 0
    assert str(folder) in capsys.readouterr().err
    assert folder.exists()


def test_an_interrupted_demo_leaves_nothing_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, keep=False, interrupted=True) == 130
    assert "nothing is left behind" in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whatever_ends_it_from_outside_leaves_nothing_and_a_second_one_breaks_nothing_off(
    number: signal.Signals, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaned = []

    def tell(*_args: object) -> int:
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)
            cleaned.append(number)
        return demo.DONE

    def remove(path: Path, **_how: object) -> None:
        signal.raise_signal(number)
        path.rmdir()

    before = signal.getsignal(number)
    monkeypatch.setattr(demo, "_tell", tell)
    monkeypatch.setattr(shutil, "rmtree", remove)
    assert demo.run_demo(report=None, as_json=True, keep=False, deadline_seconds=30) == 130
    assert (cleaned, folder.exists(), signal.getsignal(number)) == ([number], False, before)
    assert "every process is ended, nothing is left behind" in capsys.readouterr().err


def test_a_hang_up_that_is_ignored_stays_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(*_args: object) -> int:
        signal.raise_signal(signal.SIGHUP)
        return demo.DONE

    monkeypatch.setattr(demo, "_tell", tell)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert demo.run_demo(report=None, as_json=True, keep=False, deadline_seconds=30) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
    assert not folder.exists()


def test_a_terminal_that_is_closed_does_not_break_off_the_cleaning_up() -> None:
    """What is printed after the hang-up would fail with EIO; it goes nowhere, and the end is reached."""
    script = """if True:
        import os, sys
        from local.demo.ending import ended_once
        with ended_once() as unbroken:
            try:
                os.write(1, b"ready"), sys.stdin.buffer.raw.read(1)
            except KeyboardInterrupt:
                pass
            unbroken()
            os.write(1, b"x" * 10), os.write(2, b"x" * 10)
            os._exit(130)
    """
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        cwd=Path(__file__).parents[4],
    )
    os.close(terminal)
    with process:
        assert os.read(controller, 5) == b"ready"
        os.close(controller)
        process.send_signal(signal.SIGHUP)
        assert process.wait(120) == 130


def test_a_demo_that_went_well_adds_no_word(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, keep=False, interrupted=False) == 0
    assert capsys.readouterr().err == ""
    assert not folder.exists()


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_world_that_is_held_open_ends_well_by_its_time_or_from_outside_and_its_deadline_is_over(
    number: signal.Signals | None, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    held = []

    def hold(*given: object) -> None:
        held.append((given[1], signal.getitimer(signal.ITIMER_REAL)[0]))
        if number is not None:
            signal.raise_signal(number)

    def tell(told: Teller, *_: object) -> int:
        demo._hold(told, cast("World", None), 7)
        return demo.DONE

    monkeypatch.setattr(demo, "hold", hold)
    monkeypatch.setattr(demo, "_tell", tell)
    assert demo.run_demo(report=None, as_json=True, keep=False, deadline_seconds=30, hold_minutes=7) == 0
    assert held == [(7, 0.0)]
    assert capsys.readouterr().err == "relight demo: done, nothing is left behind.\n"
    assert not folder.exists()


@pytest.mark.parametrize(
    ("words", "minutes"), [([], None), (["--hold"], 60), (["--hold-for", "5"], 5), (["--hold", "--hold-for", "5"], 5)]
)
def test_a_world_is_held_open_only_when_asked_and_never_without_an_end(
    words: list[str], minutes: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, object] = {}

    def run_demo(**given: object) -> int:
        asked.update(given)
        return 0

    monkeypatch.setattr(demo, "run_demo", run_demo)
    assert console.main(["demo", *words]) == 0
    assert asked["hold_minutes"] == minutes


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--report", "no-such-folder/demo.json"], "name a file in a folder that is there"),
        (["--report", "."], "name a file in a folder that is there"),
        (["--archive", "no-such-folder/archive"], "name one in a folder that is there"),
        (["--archive", "/"], "name a new folder"),
        (["--archive", __file__], "name a new folder"),
        (["--deadline", "0"], "no number of seconds from 30 to 86400"),
        (["--deadline", "soon"], "no number of seconds from 30 to 86400"),
        (["--deadline", "inf"], "no number of seconds from 30 to 86400"),
        (["--hold-for", "0"], "no whole number from 1 to 480"),
        (["--hold-for", "inf"], "no whole number from 1 to 480"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_started(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        console.main(["demo", *words])
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err
