import os
from pathlib import Path

import pytest

from agent.job_file import JobFile
from policies.contract.events import JobRef


def test_without_a_file_there_is_no_job(tmp_path: Path) -> None:
    assert JobFile(None)() is None
    assert JobFile(tmp_path / "job.json")() is None


def test_the_job_follows_the_file(tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    job = JobFile(path)
    path.write_text('{"id": "ns/run", "orchestrator": "eks", "rank": 3, "step": 100, "checkpoint": "s3://b/p"}')
    assert job() == JobRef.model_validate(
        {"id": "ns/run", "orchestrator": "eks", "rank": 3, "step": 100, "checkpoint": "s3://b/p"}
    )
    fresh = tmp_path / "fresh"
    fresh.write_text('{"id": "ns/run", "step": 200}')
    fresh.rename(path)
    assert job() == JobRef(id="ns/run", step=200)
    path.unlink()
    assert job() is None


@pytest.mark.parametrize("text", ["", "{", '{"id": 7}', "[]", '{"id": "x", "rank": "first"}', "\x00" * 100])
def test_a_broken_file_means_the_job_before(tmp_path: Path, text: str) -> None:
    path = tmp_path / "job.json"
    job = JobFile(path)
    path.write_text('{"id": "ns/run"}')
    assert job() == JobRef(id="ns/run")
    path.write_text(text)
    os.utime(path, ns=(1, 1))
    assert job() == JobRef(id="ns/run")


@pytest.mark.parametrize(("size", "known"), [("64", 64), ("0", None), ("-8", None), ('"many"', None), ("true", None)])
def test_a_mistyped_size_costs_nothing_but_itself(tmp_path: Path, size: str, known: int | None) -> None:
    path = tmp_path / "job.json"
    path.write_text(f'{{"id": "ns/run", "world_size": {size}}}')
    assert JobFile(path)() == JobRef(id="ns/run", world_size=known)


def test_a_folder_in_its_place_stops_nothing(tmp_path: Path) -> None:
    assert JobFile(tmp_path)() is None


def test_a_pipe_in_its_place_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    os.mkfifo(path)
    assert JobFile(path)() is None
