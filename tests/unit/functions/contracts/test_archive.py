"""What every archive does: the twin, a folder, and S3 (on moto)."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import boto3
import pytest
from moto import mock_aws

from functions.adapters.archive import S3Archive
from functions.adapters.archive_folder import FolderArchive
from functions.ports.archive import ArchiveReader, ArchiveWriter
from functions.twins.archive import MemoryArchive
from policies.contract.archive_names import EVENTS, INCIDENTS, POLICIES, object_key
from tests.tools.archives import BEGIN

BUCKET = "archive-bucket"
DAY = timedelta(days=1)


class Archive(ArchiveReader, ArchiveWriter, Protocol):
    """Both sides."""


@pytest.fixture(params=["twin", "folder", "s3", "s3 below a prefix"])
def archive(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    if request.param == "twin":
        yield MemoryArchive()
    elif request.param == "folder":
        yield FolderArchive(tmp_path / "not" / "there")
    else:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        with mock_aws():
            client = boto3.client("s3", region_name="us-east-1")
            client.create_bucket(Bucket=BUCKET)
            yield S3Archive(client, BUCKET, prefix="old/" if "prefix" in request.param else "", page=2)


def test_what_was_put_is_listed_by_day_in_order_of_first_arrival(archive: Archive) -> None:
    keys = [object_key(EVENTS, BEGIN + timedelta(minutes=at), "overflow", b"%d" % at) for at in (120, 0, 1, 59, 60)]
    for key in keys:
        archive.put(key, b"packed")
    archive.put(object_key(EVENTS, BEGIN + DAY, "overflow", b""), b"packed")
    listed = archive.list(EVENTS, BEGIN.date())
    assert [(one.name.key, one.size) for one in listed] == [(key, 6) for key in sorted(keys)]
    assert archive.list(EVENTS, (BEGIN + 2 * DAY).date()) == []


def test_days_are_told_by_family(archive: Archive) -> None:
    for family, days in ((EVENTS, (40, 0)), (INCIDENTS, (3,))):
        for day in days:
            archive.put(object_key(family, BEGIN + day * DAY, "x", b""), b"x")
    assert archive.days(EVENTS) == [BEGIN.date(), (BEGIN + 40 * DAY).date()]
    assert archive.days(INCIDENTS) == [(BEGIN + 3 * DAY).date()]
    assert archive.days(POLICIES) == []


def test_an_object_is_read_in_pieces_until_it_ends(archive: Archive) -> None:
    key = object_key(EVENTS, BEGIN, "x", b"")
    archive.put(key, b"0123456789")
    assert archive.read(key, 0, 4) == b"0123"
    assert archive.read(key, 8, 4) == b"89"
    assert archive.read(key, 10, 4) == b""


def test_what_is_gone_reads_as_nothing(archive: Archive) -> None:
    assert archive.read(object_key(EVENTS, BEGIN, "x", b""), 0, 4) == b""


def test_putting_again_changes_nothing(archive: Archive) -> None:
    key = object_key(EVENTS, BEGIN, "x", b"")
    archive.put(key, b"same")
    archive.put(key, b"same")
    assert [one.name.key for one in archive.list(EVENTS, BEGIN.date())] == [key]
    assert archive.read(key, 0, 9) == b"same"


def test_what_is_none_of_its_objects_is_not_there(archive: Archive) -> None:
    archive.put("events/2026/11/30/06/notes.txt", b"by hand")
    archive.put("events/today/x", b"by hand")
    assert archive.list(EVENTS, BEGIN.date()) == []
