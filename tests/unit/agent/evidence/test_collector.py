import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.evidence import collector
from agent.evidence.collection import Limits
from agent.evidence.request import MANIFEST, EvidenceManifest, EvidenceRequest
from agent.evidence.upload import MemoryBucket, Uploader
from policies.contract.errors import BadInputError
from tests.tools.evidence import FAILS, FLOODS, HANGS, Site, own_path, part, within
from tests.tools.sources import eventually

ROOT = Path(__file__).parents[4]
RANK = "import os, time; open(os.environ['READY'], 'w').close(); time.sleep(600)"
REQUEST = EvidenceRequest("cmd-1", reason="a test")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site(tmp_path)
    site.prepare()
    monkeypatch.setenv("PATH", own_path(site.programs))
    return site


@pytest.fixture
def rank(site: Site) -> Iterator[int]:
    """A process that trains, as far as its environment tells, and left a dump and a secret."""
    (site.root / "trace_3").write_bytes(b"\x80\x04not to be unpickled")
    (site.root / "trace_x").write_bytes(b"of something else")
    environ = {
        "RANK": "3",
        "TORCH_FR_DUMP_TEMP_FILE": f"{site.root}/trace_",
        "WANDB_API_KEY": "hunter2",
        "READY": f"{site.root}/ready",
    }
    words = [sys.executable, "-c", RANK, "--api-key", "hunter2"]
    with subprocess.Popen(words, env=environ) as process:
        eventually((site.root / "ready").exists)
        yield process.pid
        process.kill()


def test_every_part_that_can_be_had_is_kept_and_every_other_says_why_not(site: Site, rank: int) -> None:
    site.program("nvidia-smi", "#!/bin/sh\necho $*\n")
    site.program("py-spy", "#!/bin/sh\necho stack of $4\n")
    site.program("nvidia-bug-report.sh", '#!/bin/sh\necho $*; echo report > "$3".gz\n')
    manifest = site.collector(events=['{"kind": "gpu.lost"}']).collect(REQUEST)
    folder = Path(manifest.folder)
    kept = {path.name: path.read_text(errors="replace") for path in folder.iterdir()}
    assert kept["agent-events.jsonl"] == '{"kind": "gpu.lost"}\n'
    assert kept["nvidia-smi.txt"] == "-q\n"
    assert kept["nvidia-bug-report.txt"] == "--safe-mode --output-file nvidia-bug-report.log\n"
    assert kept["nvidia-bug-report.log.gz"] == "report\n"
    assert kept[f"stack-{rank}.txt"] == f"stack of {rank}\n"
    assert "not to be unpickled" in kept[f"flight-recorder-{rank}-trace_3"]
    assert f"flight-recorder-{rank}-trace_x" not in kept
    assert "fallen off the bus" in kept["kernel.log"]
    assert "MemAvailable" in kept["node.txt"]
    assert "step 1" in kept["training-log-0.txt"]
    assert f"== {rank}\n" in kept["processes.txt"]
    assert "RANK=3" in kept["processes.txt"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert json.loads(kept[MANIFEST]) == manifest.as_json()
    assert [one.name for one in manifest.parts if one.error] == []


def test_no_secret_of_a_process_is_written_down(site: Site, rank: int) -> None:
    folder = Path(site.collector().collect(REQUEST).folder)
    assert "train" not in (folder / "processes.txt").read_text()
    assert not [path for path in folder.iterdir() if b"hunter2" in path.read_bytes()]


def collected_in_time(site: Site, first: str) -> EvidenceManifest:
    """Collect in eight seconds, or in more where a machine is so slow that it has none for the part *first*."""
    for seconds in (8, 40, 120):
        began = time.monotonic()
        request = EvidenceRequest(f"cmd-{seconds}", reason="a test")
        manifest = site.collector(Limits(seconds=seconds, bytes=4 << 20)).collect(request)
        assert within(seconds + 60, began)
        if "status" in part(manifest, first).error:
            return manifest
    raise AssertionError(f"{first} ends at once, and no time was enough for it")


def test_programs_that_hang_flood_or_fail_stop_no_other_part(site: Site, rank: int) -> None:
    site.program("py-spy", FAILS)
    site.program("nvidia-smi", FLOODS)
    site.program("nvidia-bug-report.sh", HANGS)
    manifest = collected_in_time(site, f"stack-{rank}.txt")
    assert "status 9" in part(manifest, f"stack-{rank}.txt").error
    assert "did not end" in part(manifest, "nvidia-smi.txt").error
    assert part(manifest, "nvidia-smi.txt").cut
    assert part(manifest, "kernel.log").bytes
    last = part(manifest, "nvidia-bug-report.txt")
    assert "did not end" in last.error or "no time" in last.error
    assert sum(one.bytes for one in manifest.parts) <= 4 << 20


def test_all_together_take_no_more_bytes_than_they_may(site: Site, rank: int) -> None:
    (site.root / "kernel.log").write_bytes(b"x" * (1 << 20))
    manifest = site.collector(Limits(seconds=300, bytes=64 << 10)).collect(REQUEST)
    folder = Path(manifest.folder)
    written = sum(path.stat().st_size for path in folder.iterdir() if path.name != MANIFEST)
    assert written == sum(one.bytes for one in manifest.parts) <= 64 << 10
    assert {one.error for one in manifest.parts} & {"no bytes were left"}


def test_asking_twice_collects_once(site: Site) -> None:
    first = site.collector().collect(REQUEST)
    (site.root / "kernel.log").write_text("another\n")
    assert site.collector().collect(REQUEST) == first
    assert "another" not in (Path(first.folder) / "kernel.log").read_text()


def test_a_disk_that_refuses_is_said_and_nothing_is_raised(site: Site) -> None:
    (site.root / "evidence").rmdir()
    (site.root / "evidence").touch()
    manifest = site.collector().collect(REQUEST)
    assert "cannot be written" in manifest.parts[0].error


def test_a_reader_that_hangs_costs_its_own_part_alone(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "_READING", "tests.tools.evidence_topics:Hanging")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    began = time.monotonic()
    manifest = site.collector(Limits(seconds=40)).collect(REQUEST)
    assert within(120, began)
    assert "does not come back" in part(manifest, "kernel").error
    assert part(manifest, "node.txt").bytes
    salvaged = part(manifest, "kernel.log")
    assert salvaged.cut
    assert (Path(manifest.folder) / "kernel.log").read_text() == "as far as it came\n"


def test_a_second_collection_waits_for_the_first_within_its_own_time(site: Site) -> None:
    busy = site.collector()
    with busy._lock:
        began = time.monotonic()
        manifest = busy.collect(EvidenceRequest("cmd-2", reason="a test", seconds=1))
    assert within(60, began)
    assert manifest.parts[0].error == "another collection took all the time"
    assert not Path(manifest.folder).exists()


def test_what_is_collected_is_in_the_bucket_when_it_answers(site: Site) -> None:
    bucket, store, stop = MemoryBucket(), site.store(), threading.Event()
    uploader = Uploader(store, bucket, "nodes/i-1")
    thread = threading.Thread(target=uploader.run, args=(stop,))
    thread.start()
    try:
        manifest = site.collector(store=store, uploader=uploader).collect(REQUEST)
    finally:
        stop.set()
        thread.join(60)
    assert manifest.uploaded
    assert manifest.address == "s3://memory/nodes/i-1/b/cmd-1/manifest.json"
    assert "nodes/i-1/b/cmd-1/kernel.log" in bucket.objects
    assert json.loads(bucket.objects["nodes/i-1/b/cmd-1/manifest.json"]) == {**manifest.as_json(), "uploaded": False}


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 200])
def test_an_id_that_is_no_folder_name_is_refused(name: str) -> None:
    with pytest.raises(BadInputError):
        EvidenceRequest(name, reason="")
