import fcntl
import json
import os
import struct
import time
from pathlib import Path

import pytest

from relight_training.folder import candidates, namespace_of_pids, sweep

HERE = namespace_of_pids()
GONE = 2**22 + 1  # above the highest pid that Linux gives


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def boot_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def leave(place: Path, name: str = "one.beat", *, beat_at: float | None = None, **header: object) -> Path:
    """Leave a file as a dead process does: no lock on it."""
    page, text = bytearray(4096), json.dumps(header).encode()
    page[:8] = b"RLBEAT01"
    struct.pack_into("<I", page, 8, len(text))
    struct.pack_into("<Q", page, 24, int((boot_time() if beat_at is None else beat_at) * 1e9))
    page[512 : 512 + len(text)] = text
    (place / name).write_bytes(page)
    return place / name


@pytest.mark.parametrize("value", ["", "  "])
def test_the_nodes_folder_is_used_where_it_is_and_never_made(value: str) -> None:
    assert candidates({"RELIGHT_BEATS": value}) == [("/run/relight/beats", False)]


def test_a_folder_that_was_asked_for_comes_first_and_may_be_made() -> None:
    assert candidates({"RELIGHT_BEATS": "/x"}) == [("/x", True), ("/run/relight/beats", False)]
    assert candidates({"RELIGHT_BEATS": "OFF"}) == []


def test_the_file_of_a_dead_process_goes(place: Path) -> None:
    left = leave(place, pid=GONE, pid_namespace=HERE)
    assert sweep(str(place), HERE) == [str(left)]
    assert not left.exists()


def test_the_file_of_a_living_process_stays_though_it_has_no_lock(place: Path) -> None:
    left = leave(place, pid=os.getppid(), pid_namespace=HERE)
    assert sweep(str(place), HERE) == []
    assert left.exists()


def test_a_number_that_was_given_anew_is_not_that_process(place: Path) -> None:
    leave(place, pid=os.getppid(), pid_namespace=HERE, beat_at=0.001)
    assert len(sweep(str(place), HERE)) == 1


def test_a_file_that_is_locked_stays_whatever_it_says(place: Path) -> None:
    left = leave(place, pid=GONE, pid_namespace=HERE)
    with left.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert sweep(str(place), HERE) == []


@pytest.mark.parametrize(("silent", "goes"), [(1, False), (540, False), (601, True), (-60, True)])
def test_another_containers_file_goes_after_ten_silent_minutes_or_a_boot(place: Path, silent: int, goes: bool) -> None:
    leave(place, pid=1, pid_namespace=HERE + 1, beat_at=max(0.0, boot_time() - silent) if silent < 600 else 0.0)
    if silent > 600 and boot_time() < silent:
        pytest.skip("this machine has been up for less than ten minutes")
    assert bool(sweep(str(place), HERE)) is goes


def test_what_is_not_a_beat_file_stays(place: Path) -> None:
    (place / "notes.txt").write_text("mine")
    (place / "short.beat").write_bytes(b"RLBEAT01")
    (place / "large.beat").write_bytes(bytes(8192))
    (place / "foreign.beat").write_bytes(bytes(4096))
    (place / "folder.beat").mkdir()
    os.mkfifo(place / "pipe.beat")
    (place / "link.beat").symlink_to(leave(place, "gone", pid=GONE, pid_namespace=HERE))
    before = sorted(place.iterdir())
    assert sweep(str(place), HERE) == []
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("header", [b"", b"{", b"[1]", b'{"pid": "1"}', b"[" * 3000, b'{"pid": 1e999}'])
def test_a_header_that_is_none_is_judged_by_its_silence(place: Path, header: bytes) -> None:
    left = leave(place, pid=GONE, pid_namespace=HERE)
    page = bytearray(left.read_bytes())
    struct.pack_into("<I", page, 8, 2**32 - 1)
    page[512:] = header.ljust(4096 - 512, b"\0")
    left.write_bytes(page)
    assert sweep(str(place), HERE) == []


def test_a_half_made_file_goes_when_it_is_old(place: Path) -> None:
    for name, age in ((".new.tmp", 0), (".old.tmp", 3600)):
        (place / name).touch()
        os.utime(place / name, (time.time() - age,) * 2)
    assert sweep(str(place), HERE) == [str(place / ".old.tmp")]


def test_a_folder_that_is_not_there_is_swept_already(place: Path) -> None:
    assert sweep(str(place / "none"), HERE) == []
