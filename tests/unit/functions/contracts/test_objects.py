"""What every bucket does: the twin and S3 (on moto)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.s3_objects import S3Objects
from functions.ports.objects import MOST_BYTES, Location, Objects
from functions.twins.objects import MemoryObjects
from policies.contract.errors import BadInputError, DependencyError

BUCKET = "objects-bucket"


@pytest.fixture(params=["twin", "s3"])
def objects(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Objects]:
    if request.param == "twin":
        yield MemoryObjects(lambda: datetime.now(UTC))
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        yield S3Objects(client, page=2)


def test_an_object_is_written_once_where_none_may_be(objects: Objects) -> None:
    assert objects.put_if_absent(BUCKET, "a/b.json", b"first")
    assert not objects.put_if_absent(BUCKET, "a/b.json", b"second")
    stored = objects.get(BUCKET, "a/b.json")
    assert stored is not None
    assert stored.body == b"first"


def test_an_object_is_written_over_only_as_it_was_read(objects: Objects) -> None:
    objects.put_if_absent(BUCKET, "k", b"first")
    read = objects.get(BUCKET, "k")
    assert read is not None
    assert objects.put_if_match(BUCKET, "k", b"second", read.etag)
    assert not objects.put_if_match(BUCKET, "k", b"third", read.etag)
    now = objects.get(BUCKET, "k")
    assert now is not None
    assert now.body == b"second"
    assert now.etag != read.etag


def test_of_a_large_object_the_beginning_is_read(objects: Objects) -> None:
    objects.put_if_absent(BUCKET, "large", b"x" * (MOST_BYTES + 1))
    stored = objects.get(BUCKET, "large")
    assert stored is not None
    assert len(stored.body) == MOST_BYTES
    assert objects.put_if_match(BUCKET, "large", b"small", stored.etag)


def test_writing_over_what_is_not_there_does_not_happen(objects: Objects) -> None:
    assert not objects.put_if_match(BUCKET, "none", b"x", '"0"')
    assert objects.get(BUCKET, "none") is None


def test_a_listing_holds_keys_below_the_prefix_relative_to_it(objects: Objects) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    for key in ("run/step-1/.metadata", "run/step-1/__0_0.distcp", "run-2/other", "run/", "else"):
        objects.put_if_absent(BUCKET, key, b"12345")
    listed = objects.list(Location(BUCKET, "run"))
    assert [(entry.key, entry.size) for entry in listed] == [("step-1/.metadata", 5), ("step-1/__0_0.distcp", 5)]
    assert all(before <= entry.modified <= before + timedelta(minutes=1) for entry in listed)
    assert len(objects.list(Location(BUCKET))) == 5


def test_more_than_a_page_is_listed(objects: Objects) -> None:
    for number in range(5):
        objects.put_if_absent(BUCKET, f"many/{number:05d}", b"")
    assert len(objects.list(Location(BUCKET, "many"))) == 5


def test_a_part_is_read_and_ends_where_the_object_ends(objects: Objects) -> None:
    objects.put_if_absent(BUCKET, "k", b"0123456789")
    assert objects.read(BUCKET, "k", 2, 3) == b"234"
    assert objects.read(BUCKET, "k", 8, 100) == b"89"
    assert objects.read(BUCKET, "k", 20, 5) == b""
    assert objects.read(BUCKET, "vanished", 0, 5) == b""


@pytest.mark.parametrize(
    ("address", "expected"),
    [("s3://b/p/q/", Location("b", "p/q")), ("s3://b", Location("b")), ("s3://b/", Location("b"))],
)
def test_a_place_is_read_from_its_address(address: str, expected: Location) -> None:
    assert Location.parse(address) == expected
    assert Location.parse(expected.address()) == expected


@pytest.mark.parametrize("address", ["", "b/p", "s3://", "/mnt/checkpoints", "https://b/p"])
def test_what_is_no_place_says_how_one_is_written(address: str) -> None:
    with pytest.raises(BadInputError, match="s3://bucket/prefix"):
        Location.parse(address)


def _each_call(objects: Objects) -> list[Callable[[], object]]:
    return [
        lambda: objects.list(Location("no-such-bucket")),
        lambda: objects.get("no-such-bucket", "k"),
        lambda: objects.put_if_absent("no-such-bucket", "k", b""),
    ]


def test_a_bucket_that_is_not_there_is_a_dependency_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        for call in _each_call(S3Objects(boto3.client("s3", region_name="us-east-1"))):
            with pytest.raises(DependencyError, match="no-such-bucket"):
                call()
