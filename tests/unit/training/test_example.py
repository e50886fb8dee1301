"""The example as a real process: killed at any moment, asked to save, told where to resume."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.beat_files import Seen, ask, files_in, look, only_file

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "training" / "examples" / "train.py"
PATIENCE = 60


def eventually(holds: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


class Example:
    """The example on a folder of checkpoints."""

    def __init__(self, place: Path, beats: Path) -> None:
        self.place, self.beats = place, beats
        self.process: subprocess.Popen[str] | None = None

    def begin(self, steps: int, *words: str) -> subprocess.Popen[str]:
        """Start it."""
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "training"), "RELIGHT_BEATS": str(self.beats)}
        command = [sys.executable, str(EXAMPLE), "--checkpoints", str(self.place), "--steps", str(steps), *words]
        self.process = subprocess.Popen(command, env=environ, stdout=-1, stderr=-1, text=True)
        return self.process

    def says(self) -> list[dict[str, Any]]:
        """Wait for its end, or bring it about by a signal that it cannot see; what it printed."""
        assert self.process is not None
        out, err = self.process.communicate(timeout=PATIENCE)
        assert "Traceback" not in err
        return [json.loads(line) for line in out.splitlines()]

    def kill(self) -> list[dict[str, Any]]:
        """Kill it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        return self.says()

    def seen(self) -> Seen:
        """Look at its beat, once there is one."""
        eventually(lambda: files_in(self.beats))
        return look(only_file(self.beats))

    def reaches(self, step: int) -> None:
        """Wait until it beats past *step*."""
        eventually(lambda: self.seen().step > step)

    def whole(self) -> list[int]:
        """Return the steps that are saved whole."""
        return sorted(int(path.parent.name[5:]) for path in self.place.glob("step-*/model.json"))


@pytest.fixture
def example(tmp_path: Path, folder: Path) -> Iterator[Example]:
    made = Example(tmp_path / "run", folder)
    yield made
    if made.process is not None and made.process.poll() is None:
        made.process.kill()
        made.process.communicate(timeout=PATIENCE)


def test_it_trains_to_the_end_and_leaves_no_beat(example: Example) -> None:
    example.begin(30, "--step-seconds", "0")
    assert example.says()[-1] == {"event": "done", "step": 30}
    assert example.whole() == [10, 20, 30]
    assert files_in(example.beats) == []


def test_killed_between_saves_it_goes_on_from_the_newest_one(example: Example) -> None:
    example.begin(1_000_000, "--step-seconds", "0.001")
    example.reaches(25)
    example.kill()
    newest = example.whole()[-1]
    assert newest <= example.seen().step
    example.begin(newest + 10, "--step-seconds", "0")
    assert example.says()[0] == {"event": "begins", "step": newest}


def test_killed_in_the_middle_of_a_save_it_goes_on_from_the_one_before(example: Example) -> None:
    example.begin(20, "--step-seconds", "0", "--save-every", "10")
    example.says()
    example.begin(1000, "--step-seconds", "0", "--save-seconds", str(PATIENCE))
    eventually((example.place / ".step-30.partial" / "model.json").exists)
    assert look(only_file(example.beats)).phase == 4
    example.kill()
    assert example.whole() == [10, 20]
    example.begin(30, "--step-seconds", "0")
    assert example.says()[0] == {"event": "begins", "step": 20}


def test_killed_again_and_again_it_never_goes_back_behind_what_is_whole(example: Example) -> None:
    begun, whole = [], [0]
    for round_ in range(5):
        example.begin(100_000, "--step-seconds", "0.0005", "--save-seconds", "0.002", "--save-every", "7")
        example.reaches(whole[-1] + 9 + round_)
        begun.append(example.kill()[0]["step"])
        assert begun[-1] == whole[-1]
        whole = example.whole()
        for path in files_in(example.beats):
            path.unlink()  # so that the next look is at the next process
    assert begun == sorted(begun)
    assert begun[-1] > 0


def test_a_save_that_is_asked_for_is_made_within_a_step(example: Example) -> None:
    example.begin(100_000, "--step-seconds", "0.01", "--save-every", "1000000")
    example.reaches(3)
    ask(only_file(example.beats), 4711)
    eventually(lambda: example.seen().fulfilled == 4711)
    saved = example.seen().saved_step
    example.kill()
    assert example.whole() == [saved]


def test_it_goes_on_where_relight_says_and_then_not_behind_its_own_saves(example: Example) -> None:
    example.begin(50, "--step-seconds", "0")
    example.says()
    told = {"step": 30, "path": "s3://runs/run/step-30", "incident": "inc-1", "time": "2099-01-01T00:00:00Z"}
    (example.place / "relight-resume.json").write_text(json.dumps(told))
    example.begin(32, "--step-seconds", "0", "--save-every", "1")
    assert [line["step"] for line in example.says()[:2]] == [30, 30]
    progress = json.loads((example.place / "relight-progress.json").read_text())
    assert (progress["step"], progress["resumed_from"]) == (32, 30)
    example.begin(33, "--step-seconds", "0")
    assert example.says()[0] == {"event": "resumes", "step": 32, "told_by": "relight-progress.json"}


def test_a_run_whose_beats_go_nowhere_trains_all_the_same(example: Example, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    example.beats = tmp_path / "file" / "beats"
    example.begin(10, "--step-seconds", "0")
    assert example.says()[-1] == {"event": "done", "step": 10}
