import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.host.disks.mountinfo import by_device, mounts_of_node
from agent.host.disks.poll import DiskPoll
from agent.host.disks.read_only import judge, meant_writable
from agent.host.mounts.topic import look
from tests.tools.mounts import mount, mounts
from tests.tools.polling import bench


def broken(line: str, *, meant: bool = True) -> bool:
    return judge(mount(line), "nvme1n1", meant=meant) is not None


def test_the_mount_says_writable_and_the_file_system_says_it_is_not() -> None:
    assert broken("1 1 259:1 / /scratch rw - ext4 /dev/nvme1n1 ro,errors=remount-ro")
    assert broken("1 1 0:41 / /data rw - btrfs /dev/nvme1n1 ro")


def test_newer_kernels_say_it_in_a_word_of_their_own() -> None:
    assert broken("1 1 7:0 / /scratch rw - ext4 /dev/loop0 rw,abort,errors=continue,emergency_ro", meant=False)


@pytest.mark.parametrize(
    "line",
    [
        "1 1 259:1 / /scratch rw - ext4 /dev/nvme1n1 rw,errors=remount-ro",
        "1 1 259:1 / /scratch ro - ext4 /dev/nvme1n1 ro,errors=remount-ro",  # by somebody, mounted or remounted
        "1 1 259:1 / /images ro - ext4 /dev/nvme1n1 rw",
        "1 1 7:1 / /snap/core rw - squashfs /dev/loop1 ro",
        "1 1 11:0 / /media rw - iso9660 /dev/sr0 ro",
        "1 1 0:50 / /fsx rw - lustre 10.0.1.7@tcp:/abc ro",
    ],
)
def test_what_is_well_or_meant_to_be_read_only_is_no_fault(line: str) -> None:
    assert not broken(line)


def test_a_device_that_could_never_be_written_to_is_no_fault() -> None:
    assert not broken("1 1 253:0 / /verity rw - ext4 /dev/dm-0 ro", meant=False)


def test_what_somebody_remounts_stays_no_fault_though_bind_mounts_of_it_still_say_writable() -> None:
    text = (
        "40 1 259:1 / /data {} - ext4 /dev/nvme1n1 {}\n"
        "90 1 259:1 / /pods/1/data rw - ext4 /dev/nvme1n1 {}\n"
        "91 1 259:1 /a /pods/2/data ro - ext4 /dev/nvme1n1 {}\n"
    )
    remounted, aborted, said = (
        by_device(mounts(text.format(mount, *[system] * 3)))
        for mount, system in (("ro", "ro"), ("rw", "ro"), ("ro", "rw,emergency_ro"))
    )
    assert [judge(one, "nvme1n1", meant=True) for one in remounted] == [None]
    assert [judge(one, "nvme1n1", meant=True) is not None for one in (*aborted, *said)] == [True, True]


def test_fstab_says_what_is_meant() -> None:
    text = (
        "# comment\nUUID=1 / ext4 defaults,errors=remount-ro 0 1\n/dev/sr0 /media iso9660 ro,noauto 0 0\n\nbad line\n"
    )
    assert meant_writable(text) == {"/"}


def _poll(tmp_path: Path) -> DiskPoll:
    def ask(paths: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        return {path: look(path) for path in paths}

    return DiskPoll(mounts_of_node(Path("/proc")), ask, Path("/sys"), tmp_path / "no-fstab")


def test_what_was_writable_in_this_boot_was_meant_to_be(tmp_path: Path) -> None:
    listed = tmp_path / "1/mountinfo"
    listed.parent.mkdir()
    poll = DiskPoll(mounts_of_node(tmp_path), lambda _paths: {}, tmp_path, tmp_path / "no-fstab")
    with bench() as work:
        listed.write_text("1 1 259:1 / /scratch rw - xfs /dev/nvme1n1 rw\n")
        assert work.poll(poll, 0) == []
        listed.write_text("1 1 259:1 / /scratch rw - xfs /dev/nvme1n1 ro\n")
        (event,) = work.poll(poll, 30)
    assert (event["kind"], event["attributes"]) == ("storage.read_only", {"mount": "/scratch", "device": "nvme1n1"})


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 16 MiB, mounted; skipped where that is not possible."""
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("needs root and mkfs.ext4")
    image, folder = tmp_path / "image", tmp_path / "mount"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    words = ["mount", "-o", "loop,errors=continue", str(image), str(folder)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_real_file_system_that_aborts_is_told_and_a_real_one_that_is_remounted_is_not(
    disk: Path, tmp_path: Path
) -> None:
    poll = _poll(tmp_path)
    with bench() as work:
        before = [event for event in work.poll(poll, 0) if event["attributes"].get("mount") == str(disk)]
        assert before == []
        bound = tmp_path / "volume"
        bound.mkdir()
        subprocess.run(["mount", "--bind", disk, bound], check=True)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        assert [event for event in work.poll(poll, 10) if event["kind"] == "storage.read_only"] == []
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        subprocess.run(["umount", bound], check=True)
        subprocess.run(["mount", "-o", "remount,abort", disk], check=True)
        with pytest.raises(OSError, match="Read-only"):
            (disk / "x").write_text("x")
        told = [event for event in work.poll(poll, 30) if event["attributes"].get("mount") == str(disk)]
    assert [(event["kind"], event["severity"]) for event in told] == [("storage.read_only", "critical")]
    assert told[0]["attributes"]["device"].startswith("loop")


def test_a_real_file_system_that_fills_is_told(disk: Path, tmp_path: Path) -> None:
    poll = _poll(tmp_path)
    with bench() as work:
        work.poll(poll, 0)
        (disk / "filler").write_bytes(b"x" * (12 << 20))
        told = [event for event in work.poll(poll, 30) if event["attributes"].get("mount") == str(disk)]
    assert [(event["kind"], event["attributes"]["resource"]) for event in told] == [("storage.full", "bytes")]
