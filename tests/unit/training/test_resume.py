import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from relight_training import beat, resume_point, saved
from tests.tools.beat_files import look, only_file

NOW = datetime.now(UTC).replace(microsecond=0)


class Run:
    """A run's folder of checkpoints."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def save(self, step: int, *, minutes: float = 0, name: str = "step-{}") -> Path:
        """Put a checkpoint there, *minutes* after the decision."""
        path = self.place / name.format(step)
        path.mkdir(parents=True)
        at = (NOW + timedelta(minutes=minutes)).timestamp()
        os.utime(path, (at, at))
        return path

    def point(self, step: int, incident: str = "inc-1", **changes: object) -> None:
        """Write the pointer, as Relight does."""
        told = {"step": step, "path": f"s3://runs/run/step-{step}", "incident": incident, "time": NOW.isoformat()}
        (self.place / "relight-resume.json").write_text(json.dumps({**told, **changes}))

    def told(self) -> tuple[int, str] | None:
        """Ask as the next start does."""
        point = resume_point(self.place)
        return (point.step, Path(point.path).name) if point else None

    def progress(self) -> dict[str, Any]:
        """Read what was noted."""
        told: dict[str, Any] = json.loads((self.place / "relight-progress.json").read_text())
        return told


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("RELIGHT_ANNOTATIONS", str(tmp_path / "annotations"))
    (tmp_path / "run").mkdir()
    return Run(tmp_path / "run")


def test_where_relight_says_nothing_there_is_no_point(run: Run) -> None:
    run.save(40)
    assert resume_point(run.place) is None
    assert resume_point() is None


def test_the_pointer_beside_the_checkpoints_is_found_in_their_mirror(run: Run) -> None:
    run.save(40, minutes=-10)
    run.point(40)
    point = resume_point(run.place)
    assert point is not None
    assert (point.step, point.path, point.incident) == (40, str(run.place / "step-40"), "inc-1")
    assert point.decided_at == NOW
    assert point.told_by.endswith("run/relight-resume.json")


def test_the_place_may_come_from_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELIGHT_CHECKPOINTS", str(run.place))
    run.save(40, minutes=-10)
    run.point(40)
    assert resume_point() is not None


def test_annotations_come_before_a_pointer_of_another_run(run: Run, tmp_path: Path) -> None:
    run.save(30), run.save(40)
    run.point(40)
    (tmp_path / "annotations").write_text(
        'relight.dev/resume-step="30"\nrelight.dev/resume-from="s3://runs/run/step-30"\n'
    )
    point = resume_point(run.place)
    assert point is not None
    assert (point.step, point.path, point.incident) == (30, str(run.place / "step-30"), None)


def test_the_environment_and_the_pointer_of_one_decision_are_one_point(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIGHT_RESUME_STEP", "40")
    monkeypatch.setenv("RELIGHT_RESUME_FROM", "s3://runs/run/step-40")
    run.point(40)
    point = resume_point(run.place)
    assert point is not None
    assert (point.path, point.incident, point.decided_at) == ("s3://runs/run/step-40", "inc-1", NOW)


@pytest.mark.parametrize("body", ["", '{"step": 40, "pa', '{"step": 40, "path": "../../etc"}', "[]"])
def test_a_pointer_that_is_not_right_is_no_point_and_said(
    run: Run, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    run.save(40)
    (run.place / "relight-resume.json").write_text(body)
    assert resume_point(run.place) is None
    assert "is refused" in caplog.text


def test_a_checkpoint_outside_the_place_is_no_point(run: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "elsewhere-40").mkdir()
    run.point(40, path=str(tmp_path / "elsewhere-40"))
    assert resume_point(run.place) is None
    assert "does not lie in" in caplog.text


def test_an_older_point_than_the_newest_save_stands_when_the_save_is_why(run: Run) -> None:
    run.save(40, minutes=-20)
    run.save(50, minutes=-10)  # written before the decision: passed over on purpose
    run.save(60, minutes=-1)
    run.point(40)
    assert run.told() == (40, "step-40")


def test_the_torn_save_of_a_run_that_died_in_it_does_not_use_the_point_up(run: Run) -> None:
    run.save(40, minutes=-20)
    run.point(40)
    run.save(50, minutes=5)
    assert run.told() == (40, "step-40")


def test_a_run_that_went_on_for_two_saves_is_not_thrown_back(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    run.save(40, minutes=-20)
    run.point(40)
    run.save(50, minutes=5), run.save(60, minutes=10)
    (run.place / "slurm-999999.out").touch()
    assert run.told() is None
    assert "is used up: the run has since written ['step-50', 'step-60']" in caplog.text


def test_a_save_that_was_told_takes_the_points_place_at_once(run: Run) -> None:
    run.save(40, minutes=-20), run.save(50, minutes=-10)
    run.point(40)
    assert run.told() == (40, "step-40")
    saved(45, run.save(45, minutes=5))
    assert run.progress().items() >= {"step": 45, "resumed_from": 40, "incident": "inc-1", "path": "step-45"}.items()
    assert run.told() == (45, "step-45")
    saved(70, run.save(70, minutes=9))
    assert run.told() == (70, "step-70")


def test_a_second_decision_for_the_same_step_stands_against_what_was_saved_since(run: Run) -> None:
    run.save(40, minutes=-20)
    run.point(40)
    run.told()
    saved(45, run.save(45, minutes=-5))
    run.point(40, incident="inc-2")
    assert run.told() == (40, "step-40")


def test_a_save_that_was_rotated_away_leaves_the_point(run: Run) -> None:
    run.save(40, minutes=-20)
    run.point(40)
    run.told()
    saved(45, run.save(45, minutes=5))
    (run.place / "step-45").rmdir()
    assert run.told() == (40, "step-40")


def test_on_sagemaker_the_jobs_name_tells_one_decision_from_the_next(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELIGHT_RESUME_STEP", "40")
    monkeypatch.setenv("RELIGHT_RESUME_FROM", "s3://runs/run/step-40")
    monkeypatch.setenv("TRAINING_JOB_NAME", "llama-r01")
    run.save(40)
    assert run.told() == (40, "step-40")
    saved(60, run.save(60))
    assert run.told() == (60, "step-60")  # the same job again, after a spot interruption
    monkeypatch.setenv("TRAINING_JOB_NAME", "llama-r02")
    assert run.told() == (40, "step-40")  # its successor: decided anew


def test_a_point_that_nothing_names_is_not_overtaken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELIGHT_RESUME_STEP", "40")
    monkeypatch.setenv("RELIGHT_RESUME_FROM", "s3://runs/run/step-40")
    run.save(40)
    run.told()
    saved(60, run.save(60))
    assert run.told() == (40, "step-40")


@pytest.mark.parametrize("told", ['{"step": "x"}', "[]", "{", '{"step": true, "path": "p"}', '{"step": 60}'])
def test_a_progress_that_is_none_changes_nothing(run: Run, told: str) -> None:
    run.save(40, minutes=-20)
    run.point(40)
    (run.place / "relight-progress.json").write_text(told)
    assert run.told() == (40, "step-40")


def test_only_the_leading_rank_notes_and_every_rank_answers(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    beat()
    saved(40, run.save(40), token=3)
    assert look(only_file(folder)).saved_step == 40
    assert not (run.place / "relight-progress.json").exists()
    monkeypatch.setenv("RANK", "0")
    saved(40, run.place / "step-40")
    assert run.progress()["step"] == 40


def test_a_save_that_cannot_be_noted_raises_nothing(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    saved(40, run.place / "none" / "step-40")
    assert "was not noted" in caplog.text
    saved(40, "s3://runs/run/step-40")
    assert len(caplog.records) == 1


def test_in_a_bucket_the_same_holds(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket="runs")

        def put(key: str, **told: object) -> None:
            client.put_object(Bucket="runs", Key=key, Body=json.dumps(told).encode())

        for step in (40, 50, 60):
            put(f"run/step-{step}/model")
        decided = {"step": 40, "path": "s3://runs/run/step-40", "incident": "inc-1"}
        put("run/relight-resume.json", **decided, time=(NOW + timedelta(hours=1)).isoformat())
        point = resume_point("s3://runs/run")
        assert point is not None
        assert (point.step, point.path) == (40, "s3://runs/run/step-40")
        put("run/relight-resume.json", **decided, time=(NOW - timedelta(hours=1)).isoformat())
        assert resume_point("s3://runs/run") is None
        assert "is used up" in caplog.text
        put("run/relight-resume.json", **{**decided, "path": "s3://foreign/run/step-40"})
        assert resume_point("s3://runs/run") is None


def test_a_place_that_cannot_be_read_is_said_and_nothing_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    began = time.monotonic()
    assert resume_point("gs://b/run") is None
    assert resume_point(b"bytes") is None  # type: ignore[arg-type]
    assert len(caplog.records) == 2
    assert time.monotonic() - began < 60


def test_a_point_of_the_environment_needs_no_place_that_can_be_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIGHT_RESUME_STEP", "40")
    monkeypatch.setenv("RELIGHT_RESUME_FROM", "s3://runs/run/step-40")
    point = resume_point(tmp_path / "none")
    assert point is not None
    assert point.path == "s3://runs/run/step-40"
