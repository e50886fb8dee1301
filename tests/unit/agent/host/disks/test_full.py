import pytest

from agent.host.disks.full import Usage, counts, judge
from agent.polls.reading import Holds
from tests.tools.mounts import mount

TIB, GIB = 1 << 40, 1 << 30


SCRATCH = mount("1 1 259:1 / /scratch rw - ext4 /dev/nvme1n1 rw")


def usage(percent: float, size: int = TIB, inodes_percent: float = 1.0) -> Usage:
    used = int(size * percent / 100)
    return Usage(size, used, size - used, 1000, round(1000 * (1 - inodes_percent / 100)))


def found(of: Usage, levels: dict[str, str] | None = None) -> list[tuple[str, object]]:
    readings = judge(SCRATCH, "nvme1n1", of, {} if levels is None else levels)
    return [(one.sighting.severity.value, one.sighting.attributes["resource"]) for one in readings]


def test_what_is_half_full_is_well() -> None:
    assert found(usage(50)) == []


@pytest.mark.parametrize(
    ("percent", "size", "severity"),
    [
        (91, TIB, "warning"),
        (97.5, TIB, "error"),
        (92, 10 * GIB, "error"),  # less than 1 GiB is left
        (50, GIB // 2, None),  # small and half empty is not full
    ],
)
def test_how_bad_it_is_depends_on_what_is_left(percent: float, size: int, severity: str | None) -> None:
    assert found(usage(percent, size)) == ([(severity, "bytes")] if severity else [])


def test_inodes_run_out_by_themselves() -> None:
    (reading,) = judge(SCRATCH, "nvme1n1", usage(10, inodes_percent=99), {})
    assert isinstance(reading, Holds)
    assert reading.sighting.attributes == {
        "mount": "/scratch",
        "device": "nvme1n1",
        "resource": "inodes",
        "used_percent": 99.0,
        "free_inodes": 10,
    }


def test_a_file_system_without_a_limit_of_inodes_has_none_to_run_out_of() -> None:
    assert found(Usage(TIB, GIB, TIB - GIB, 0, 0)) == []


def test_about_a_line_nothing_flutters() -> None:
    levels: dict[str, str] = {}
    said = [found(usage(percent), levels) for percent in (89.9, 90.1, 89.0, 88.1, 87.9, 89.0)]
    assert [bool(one) for one in said] == [False, True, True, True, False, False]
    said = [found(usage(percent), levels) for percent in (97.1, 95.5, 94.9)]
    assert [one[0][0] for one in said] == ["error", "error", "warning"]


def test_room_kept_for_root_is_not_available() -> None:
    assert Usage(100, 50, 25, 0, 0).used_percent("bytes") == pytest.approx(66.67, abs=0.01)


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("1 1 259:1 / /scratch rw - xfs /dev/nvme1n1 rw", True),
        ("1 1 0:27 / /dev/shm rw - tmpfs tmpfs rw", True),
        ("1 1 0:60 / /var/lib/kubelet/pods/1/secret rw - tmpfs tmpfs rw", False),
        ("1 1 0:99 / /run/containerd/1/rootfs rw - overlay overlay rw", False),
        ("1 1 7:0 / /snap/core/1 ro - squashfs /dev/loop0 ro", False),
        ("1 1 259:3 / /boot/efi rw - ext4 /dev/nvme0n1p15 rw", False),
        ("1 1 0:50 / /fsx rw - lustre 10.0.1.7@tcp:/abc rw", False),
        ("1 1 259:3 / /bootstrap rw - ext4 /dev/nvme0n1p4 rw", True),
        ("1 1 259:1 / /data ro - ext4 /dev/nvme1n1 rw", False),
    ],
)
def test_only_what_somebody_may_fill_is_looked_at(line: str, *, counted: bool) -> None:
    assert counts(mount(line)) is counted
