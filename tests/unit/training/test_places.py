"""One set of tests for a folder and for a bucket."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from relight_training.places import LIMIT, Bucket, Folder, Place, UnreadableError, place_of

Put = Callable[[str, bytes], None]


@pytest.fixture(params=["folder", "bucket"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Place, Put]]:
    if request.param == "folder":

        def write(name: str, body: bytes) -> None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(body)

        yield Folder(str(tmp_path)), write
        return
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket="runs")

        def put(name: str, body: bytes) -> None:
            client.put_object(Bucket="runs", Key=f"run/{name}", Body=body)

        yield place_of("s3://runs/run/"), put


def test_what_is_there_is_read_and_what_is_not_is_none(made: tuple[Place, Put]) -> None:
    place, put = made
    put("relight-resume.json", b"{}")
    assert place.read("relight-resume.json") == b"{}"
    assert place.read("none") is None


def test_no_more_is_read_than_shows_that_it_is_too_much(made: tuple[Place, Put]) -> None:
    place, put = made
    put("large", bytes(LIMIT * 2))
    assert len(place.read("large") or b"") == LIMIT + 1


def test_what_lies_there_is_listed_with_its_time(made: tuple[Place, Put]) -> None:
    place, put = made
    for name in ("step-10/model", "step-10/optimizer", "step-20/model", "notes"):
        put(name, b"x")
    found = place.entries()
    assert set(found) == {"step-10", "step-20", "notes"}
    assert all(abs(datetime.now(UTC) - at) < timedelta(minutes=5) for at in found.values())


def test_a_path_of_this_place_can_be_opened(made: tuple[Place, Put]) -> None:
    place, put = made
    put("step-10/model", b"x")
    here = place.resolve("s3://runs/run/step-10")
    assert here is not None
    assert here.endswith("/step-10")
    assert place.resolve("s3://other/run/../../step-10") is None


def test_a_place_that_cannot_be_looked_at_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for ask in (lambda: Folder(str(tmp_path / "file")).read("x"), Folder(str(tmp_path / "none")).entries):
        with pytest.raises(UnreadableError):
            ask()
    with mock_aws():
        for ask in (lambda: Bucket("s3://none").read("x"), Bucket("s3://none").entries):
            with pytest.raises(UnreadableError, match="s3://none"):
                ask()


def test_a_pipe_in_the_place_of_a_pointer_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "relight-resume.json")
    began = time.monotonic()
    with pytest.raises(UnreadableError, match="is no file"):
        Folder(str(tmp_path)).read("relight-resume.json")
    assert time.monotonic() - began < 30


def test_without_boto3_a_bucket_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(UnreadableError, match=r"no boto3\. Install it, mount the checkpoints"):
        Bucket("s3://runs/run").read("x")


@pytest.mark.parametrize("address", ["gs://b/run", "https://x"])
def test_another_kind_of_address_is_refused(address: str) -> None:
    with pytest.raises(UnreadableError, match="mount it"):
        place_of(address)
