import json
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from console.main import main
from tests.tools.dcp_files import dcp_step

STEPS = (10, 20, 30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for step in STEPS:
        for name, body in dcp_step().items():
            path = tmp_path / "run" / f"step-{step}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
    (tmp_path / "run/step-30/.metadata").unlink()
    (tmp_path / "run/step-40").mkdir()
    return tmp_path / "run"


def inspect(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main(["checkpoints", "inspect", *words, "--json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, answer


def test_a_folder_is_inspected_with_a_reason_for_each_refused_step(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, answer = inspect(capsys, str(folder))
    assert (status, answer["chosen_step"], answer["path"], answer["layout"]) == (0, 20, "step-20", "torch_dcp")
    assert [(each["step"], each["reason"]) for each in answer["refused"]] == [
        (40, "missing .metadata, and no shard either: nothing was saved here yet"),
        (30, "missing .metadata: the save did not finish"),
    ]


def test_a_place_in_s3_is_inspected_the_same_way(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket="checkpoints")
        for path in folder.rglob("*"):
            if path.is_file():
                client.put_object(
                    Bucket="checkpoints", Key=f"run/{path.relative_to(folder).as_posix()}", Body=path.read_bytes()
                )
        status, answer = inspect(capsys, "s3://checkpoints/run")
    assert (status, answer["chosen_step"], [each["step"] for each in answer["refused"]]) == (0, 20, [30])


def test_people_get_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoints", "inspect", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["chosen", "step", "20", "step-20", "(torch_dcp)"]


def test_one_checkpoint_can_be_inspected_by_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect(capsys, str(folder / "step-20"))[1]["chosen_step"] == 20
    assert inspect(capsys, str(folder / "step-30"))[0] == 1


def test_what_changed_just_now_can_be_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = inspect(capsys, str(folder), "--quiet-seconds", "3600")
    assert (status, answer["chosen_step"]) == (1, None)
    assert {each["reason"] for each in answer["refused"]} == {
        "still being written",
        "missing .metadata, and no shard either: nothing was saved here yet",
    }


def test_before_a_moment_nothing_younger_is_taken_unless_there_is_nothing_older(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = inspect(capsys, str(folder), "--before", "2020-01-01T00:00:00Z")[1]
    assert (answer["chosen_step"], answer["suspect"]) == (10, True)


def test_an_empty_place_and_a_wrong_one_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoints", "inspect", str(tmp_path)]) == 1
    assert "no checkpoint of a known layout" in capsys.readouterr().out
    assert main(["checkpoints", "inspect", str(tmp_path / "none")]) == 2
    assert "is no folder. Name a folder" in capsys.readouterr().err
    assert main(["checkpoints", "inspect", str(tmp_path), "--layout", "zarr"]) == 2
    assert "torch_dcp" in capsys.readouterr().err


def test_a_bucket_that_is_not_there_says_what_to_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    with mock_aws():
        assert main(["checkpoints", "inspect", "s3://nowhere/run", "--region", "eu-west-1"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "NoSuchBucket" in told.err
    assert "Is it the right name, account and region" in told.err


def test_links_that_lead_in_circles_and_nowhere_do_no_harm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "latest").symlink_to(folder)
    (folder / "gone").symlink_to(folder / "nowhere")
    assert inspect(capsys, str(folder))[1]["chosen_step"] == 20


def test_the_layouts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoints", "layouts"]) == 0
    assert "accelerate     numbers count saves, not steps" in capsys.readouterr().out
