from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.host.disks import mountinfo
from agent.host.disks.mountinfo import by_device, device_name, mounts_of_node
from tests.tools.mounts import KINDS, mounts

NODE = r"""
27 1 259:1 / / rw,noatime shared:1 - xfs /dev/nvme0n1p1 rw,attr2,inode64
28 27 259:1 /var/lib/kubelet/pods/1/volumes /var/lib/kubelet/pods/1/volumes rw,noatime shared:1 - xfs /dev/nvme0n1p1 rw
40 27 9:127 / /opt/dlami/nvme rw,relatime shared:9 - ext4 /dev/md127 rw,stripe=1024
41 27 0:50 / /fsx rw,relatime shared:10 - lustre 10.0.1.7@tcp:/abcdbmv rw,flock,lazystatfs
42 27 0:61 / /with\040space rw master:3 propagate_from:2 - nfs4 fs-0a.efs.us-east-1.amazonaws.com:/ rw,vers=4.1
43 27 0:99 / /run/containerd/io.containerd.runtime.v2.task/k8s.io/1/rootfs rw - overlay overlay rw,lowerdir=/a
nonsense
"""


def test_each_file_system_is_listed_once_by_the_mount_that_stands_for_it() -> None:
    found = by_device(mounts(NODE))
    assert [(one.path, one.kind) for one in found if one.kind != "overlay"] == [
        ("/", "xfs"),
        ("/opt/dlami/nvme", "ext4"),
        ("/fsx", "lustre"),
        ("/with space", "nfs4"),
    ]


def test_a_writable_mount_stands_before_one_that_only_reads() -> None:
    text = "1 1 8:1 / /images ro - ext4 /dev/sda1 rw\n2 1 8:1 / /var/lib/images rw - ext4 /dev/sda1 rw\n"
    assert [one.path for one in by_device(mounts(text))] == ["/var/lib/images"]


def test_a_device_has_the_name_that_the_kernels_log_gives_it(tmp_path: Path) -> None:
    (tmp_path / "dev/block").mkdir(parents=True)
    (tmp_path / "dev/block/253:0").symlink_to("../../devices/virtual/block/dm-0")
    (mapped,) = mounts("1 1 253:0 / /data rw - ext4 /dev/mapper/vg-data rw")
    (other,) = mounts("1 1 0:40 / /pool rw - zfs tank/pool rw")
    assert device_name(mapped, tmp_path) == "dm-0"
    (memory,) = mounts("1 1 0:27 / /dev/shm rw - tmpfs tmpfs rw")
    assert device_name(other, tmp_path) == "tank/pool"
    assert device_name(memory, tmp_path) == "/dev/shm"


def test_this_machines_own_list_is_read() -> None:
    assert "/" in {mount.path for mount in mounts_of_node(Path("/proc")).read(KINDS)}


def test_where_the_first_process_shows_no_list_our_own_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_text(NODE)
    monkeypatch.setattr(mountinfo, "_OWN", tmp_path)
    assert mounts_of_node(tmp_path).reach(mounts_of_node(tmp_path).read(KINDS)[0]) == "/"
    with pytest.raises(FileNotFoundError):
        mounts_of_node(tmp_path / "host").read(KINDS)


def test_where_the_nodes_proc_is_seen_apart_its_first_process_says_what_is_mounted() -> None:
    listed = mounts_of_node(Path("/host/proc"))
    (data,) = mounts("1 1 8:1 / /data rw - ext4 /dev/sda1 rw")
    assert listed.below == "/host/proc/1/root"
    assert listed.reach(data) == f"{listed.below}/data"


@given(st.text(alphabet=" -:/\\0123456789abrw,\n", max_size=200))
def test_whatever_the_list_holds_it_is_read(text: str) -> None:
    by_device(mounts(text))
