import threading
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from agent.evidence.request import MANIFEST
from agent.evidence.store import EvidenceStore
from agent.evidence.upload import EvidenceBucket, MemoryBucket, S3Bucket, Uploader
from policies.contract.errors import DependencyError
from tests.tools.sources import eventually

GO_ON = threading.Event()


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(tmp_path, "i-1", "boot", 10_000)


def kept(store: EvidenceStore, name: str = "c1", *, whole: bool = True, size: int = 100) -> Path:
    folder = store.begin(name, 0)
    (folder / "stacks.txt").write_bytes(b"x" * size)
    (folder / ".half").write_bytes(b"not whole")
    if whole:
        store.finish(folder, {"id": name})
    return folder


@pytest.fixture(params=["memory", "s3"])
def bucket(request: pytest.FixtureRequest) -> Iterator[EvidenceBucket]:
    if request.param == "memory":
        yield MemoryBucket()
        return
    with mock_aws():
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="evidence")
        yield S3Bucket("evidence", "us-east-1")


def contents(bucket: EvidenceBucket) -> dict[str, bytes]:
    if isinstance(bucket, MemoryBucket):
        return bucket.objects
    client = boto3.client("s3", region_name="us-east-1")
    listed = client.list_objects_v2(Bucket="evidence").get("Contents", [])
    return {one["Key"]: client.get_object(Bucket="evidence", Key=one["Key"])["Body"].read() for one in listed}


def test_what_is_there_first_stays(bucket: EvidenceBucket, tmp_path: Path) -> None:
    for text in ("first", "second"):
        (tmp_path / "x").write_text(text)
        bucket.put("nodes/i-1/boot/c1/x", tmp_path / "x")
    assert contents(bucket) == {"nodes/i-1/boot/c1/x": b"first"}


def test_a_bucket_that_is_not_there_is_a_dependency_that_fails(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with mock_aws(), pytest.raises(DependencyError, match="S3"):
        S3Bucket("missing", "us-east-1").put("x", tmp_path / "x")


def test_parts_go_before_the_manifest_and_what_is_not_whole_stays(store: EvidenceStore, bucket: EvidenceBucket) -> None:
    folder = kept(store, whole=False)
    uploader = Uploader(store, bucket, "nodes/i-1")
    uploader.step(GO_ON)
    assert contents(bucket).keys() == {"nodes/i-1/boot/c1/stacks.txt"}
    assert not store.is_uploaded(folder)
    store.finish(folder, {"id": "c1"})
    uploader.step(GO_ON)
    assert contents(bucket).keys() == {f"nodes/i-1/boot/c1/{name}" for name in ("stacks.txt", MANIFEST)}
    assert store.is_uploaded(folder)
    assert list(store.pending()) == []


def test_without_a_network_it_is_tried_again_and_after_a_restart_too(
    store: EvidenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.evidence.upload._FIRST_PAUSE", 0.01)
    folder, bucket = kept(store), MemoryBucket()
    bucket.refuses = True
    uploader, stop = Uploader(store, bucket, "nodes/i-1"), threading.Event()
    thread = threading.Thread(target=uploader.run, args=(stop,))
    thread.start()
    eventually(lambda: bool(uploader.failing))
    assert not uploader.wait_for(folder, 0)
    bucket.refuses = False
    assert uploader.wait_for(folder, 60)
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    (folder / ".uploaded").unlink()
    Uploader(store, bucket, "nodes/i-1").step(GO_ON)
    assert store.is_uploaded(folder)


def test_the_folder_is_bounded_and_the_oldest_that_is_uploaded_goes_first(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path, "i-1", "boot", 1000)
    folders = [kept(store, f"c{number}", size=300) for number in range(3)]
    store.uploaded(folders[1])
    store.begin("c3", 300)
    assert [folder.exists() for folder in folders] == [True, False, True]
    assert store.size() <= 1000


def test_a_collection_that_goes_meanwhile_stops_no_upload(store: EvidenceStore) -> None:
    folder = kept(store)

    class Vanishing(MemoryBucket):
        def put(self, key: str, path: Path) -> None:
            if path.name != MANIFEST:
                raise FileNotFoundError(2, "No such file", str(path))
            super().put(key, path)

    bucket = Vanishing()
    Uploader(store, bucket, "n").step(GO_ON)
    assert list(bucket.objects) == ["n/boot/c1/manifest.json"]
    assert folder.exists()
