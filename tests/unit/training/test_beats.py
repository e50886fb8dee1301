import logging
import os
import resource
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relight_training import beat, beats, finish, save_requested, saved, start
from tests.tools.beat_files import ask, files_in, look, only_file


def test_the_first_beat_makes_a_file_that_says_who_beats(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("RELIGHT_JOB", "training/llama")
    assert not folder.exists()
    beat()
    seen = look(only_file(folder))
    assert seen.header.items() >= {"pid": os.getpid(), "rank": 3, "job": "training/llama"}.items()
    assert seen.header["pid_namespace"] == Path("/proc/self/ns/pid").stat().st_ino
    assert seen.header["started_at"].endswith("Z")
    assert "world_size" not in seen.header
    assert (seen.beats, seen.step, seen.phase, seen.saved_step, seen.request) == (1, -1, 1, -1, 0)


def test_a_beat_says_when_and_where_training_is(folder: Path) -> None:
    beat(step=7, phase="evaluate")
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    beat(step=8)
    seen = look(only_file(folder))
    assert (seen.beats, seen.step, seen.phase) == (2, 8, 5)
    assert before <= seen.at_ns <= time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def test_a_phase_holds_until_another_is_given_but_a_step_ends_starting_and_ended(folder: Path) -> None:
    phases = []
    for step, phase in [(None, None), (1, None), (None, "save"), (2, None), (None, "ended"), (None, None), (3, None)]:
        beat(step, phase)
        phases.append(look(only_file(folder)).phase)
    assert phases == [1, 3, 4, 4, 7, 7, 3]


@pytest.mark.parametrize("step", [1.5, "7", 2**63, object()])
def test_a_step_that_is_none_beats_all_the_same_and_is_said_once(
    step: object, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    beat(step=1)
    for _ in range(3):
        beat(step=step)  # type: ignore[arg-type]
    seen = look(only_file(folder))
    assert (seen.beats, seen.step) == (4, 1)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_an_unknown_phase_beats_all_the_same(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    beat(step=1, phase="train")
    beat(step=2, phase="trian")
    seen = look(only_file(folder))
    assert (seen.beats, seen.phase) == (2, 3)
    assert "Phases: unknown, starting" in caplog.text


def test_a_request_is_seen_until_it_is_fulfilled(folder: Path) -> None:
    assert save_requested() is None
    beat(step=5)
    assert save_requested() is None
    ask(only_file(folder), 2**64 - 1)
    saved(4)  # this save began before anybody saw the request
    assert save_requested() == 2**64 - 1
    saved(5)
    saved(6)
    assert save_requested() is None
    seen = look(only_file(folder))
    assert (seen.fulfilled, seen.saved_step) == (2**64 - 1, 5)
    ask(only_file(folder), 9)
    assert save_requested() == 9
    saved(7)
    assert (look(only_file(folder)).fulfilled, look(only_file(folder)).saved_step) == (9, 7)


def test_a_save_on_an_older_token_leaves_the_newer_request_open(folder: Path) -> None:
    beat()
    ask(only_file(folder), 11)
    saved(5, token=10)
    assert save_requested() == 11


def test_a_save_that_nobody_asked_for_answers_nothing(folder: Path) -> None:
    beat()
    saved(40)
    seen = look(only_file(folder))
    assert (seen.fulfilled, seen.saved_step) == (0, -1)


def test_a_request_that_other_ranks_told_of_stays_fulfilled_when_it_comes(folder: Path) -> None:
    beat()
    saved(40, token=9)
    saved(50)
    ask(only_file(folder), 9)
    assert save_requested() is None


def test_without_a_folder_nothing_happens_and_that_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RELIGHT_BEATS", str(tmp_path / "file" / "beats"))
    monkeypatch.setattr("relight_training.folder.candidates.__defaults__", (str(tmp_path / "none"),))
    for step in range(3):
        beat(step=step, phase="train")
    assert beats.path() is None
    assert save_requested() is None
    saved(3)
    assert len(caplog.records) == 1
    assert "Mount the node's" in caplog.text
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_used_leaves_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "default").mkdir()
    monkeypatch.setenv("RELIGHT_BEATS", str(tmp_path / "file" / "beats"))
    monkeypatch.setattr("relight_training.folder.candidates.__defaults__", (str(tmp_path / "default"),))
    beat()
    assert files_in(tmp_path / "default")


def test_a_folder_that_comes_later_is_found_within_a_minute_of_beats(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write_text("in the way")
    beat()
    folder.unlink()
    beat()
    assert beats.path() is None  # not tried at each beat
    beats._process.try_at -= 61
    beat()
    assert files_in(folder)


def test_a_file_that_somebody_removed_is_made_anew_and_says_the_same(folder: Path) -> None:
    beat(step=7, phase="evaluate")
    ask(only_file(folder), 9)
    assert save_requested() == 9
    saved(6)
    assert beats._process.file is not None
    beats._process.file._look_at = 2**63  # each ten seconds only: it looked just now
    shutil.rmtree(folder)
    beat()
    assert not folder.exists()
    beats._process.file._look_at = 0
    beat()
    seen = look(only_file(folder))
    assert (seen.step, seen.phase, seen.fulfilled, seen.saved_step, seen.beats) == (7, 5, 9, 6, 1)
    beat(step=8)
    assert look(only_file(folder)).step == 8


def test_a_file_whose_folder_is_gone_for_good_is_given_up_and_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    beat(step=7)
    shutil.rmtree(folder)
    folder.write_text("in the way")
    assert beats._process.file is not None
    beats._process.file._look_at = 0
    for step in range(3):
        beat(step=step)
    assert beats.path() is None
    assert len(caplog.records) == 1


def test_off_is_silent(folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("RELIGHT_BEATS", "off")
    beat()
    assert beats.path() is None
    assert not folder.exists()
    assert not caplog.records


def test_facts_that_the_environment_does_not_tell_make_the_file_anew(folder: Path) -> None:
    beat()
    start(rank=5, world_size=8, job=None)
    first = only_file(folder)
    assert look(first).header.items() >= {"rank": 5, "world_size": 8}.items()
    start(rank=5, world_size=8)
    assert only_file(folder) == first


def test_after_a_goodbye_a_beat_begins_anew(folder: Path) -> None:
    beat(step=4)
    finish()
    assert files_in(folder) == []
    finish()
    beat(step=5)
    assert look(only_file(folder)).step == 5


def test_the_file_is_for_its_owner_and_root_to_write(folder: Path) -> None:
    beat()
    assert stat.S_IMODE(only_file(folder).stat().st_mode) & 0o022 == 0


def test_a_full_disk_is_found_before_it_can_kill(tmp_path: Path) -> None:
    # A store into a page for which there is no room would end the process by SIGBUS.
    script = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (1000, {resource.getrlimit(resource.RLIMIT_FSIZE)[1]}))\n"
        "from relight_training import beat\n"
        "beat(step=1)\n"
        "print('alive')\n"
    )
    environ = {**os.environ, "PYTHONPATH": "training", "RELIGHT_BEATS": str(tmp_path / "beats")}
    run = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert run.stdout == "alive\n"
    assert "there is no room" in run.stderr
    assert list((tmp_path / "beats").iterdir()) == []
