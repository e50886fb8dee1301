import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.host.memory import frame as module
from agent.host.memory.frame import Group, read_frame
from tests.tools.file_trees import grow
from tests.tools.sources import eventually

MIB = 1 << 20
PAGES = MIB // os.sysconf("SC_PAGE_SIZE")
NODE = f"""
meminfo: MemTotal: 2000000 kB
1/statm: 1000 500 100 0 0 0 0
1/stat: 1 (systemd) S
70/statm: {9000 * PAGES} {6000 * PAGES} {1000 * PAGES} 1 0 1 0
70/stat: 70 (my (odd) name) S {" ".join(["0"] * 18)} 12300 0
70/cgroup: 0::/kubepods.slice/pod1.slice/cri-1.scope
71/statm: {3000 * PAGES} {2000 * PAGES} 0 1 0 1 0
71/stat: 71 (other) S {" ".join(["0"] * 18)} 0 0
71/cgroup: 0::/../../system.slice
self/statm: 1 1 1 1 1 1 1
"""
POD, CONTAINER = "fs/cgroup/kubepods.slice/pod1.slice", "fs/cgroup/kubepods.slice/pod1.slice/cri-1.scope"
GROUPS = f"""
{CONTAINER}/memory.max: max
{CONTAINER}/memory.current: 100
{POD}/memory.max: {8000 * MIB}
{POD}/memory.current: {7000 * MIB}
fs/cgroup/kubepods.slice/memory.max: {64000 * MIB}
fs/cgroup/kubepods.slice/memory.current: {7000 * MIB}
"""


@pytest.fixture
def node(tmp_path: Path) -> tuple[Path, Path]:
    procfs, sysfs = grow(tmp_path / "proc", NODE), grow(tmp_path / "sys", GROUPS)
    (procfs / "meminfo").write_text("MemTotal: 2000000 kB\nMemAvailable:  500000 kB\nSwapFree:   1000 kB\n")
    cache = f"anon 5\ninactive_file {300 * MIB}\nactive_file {200 * MIB}\nslab_reclaimable {100 * MIB}\n"
    (sysfs / POD / "memory.stat").write_text(cache)
    return procfs, sysfs


def test_what_is_left_is_what_is_available_and_not_what_is_free(node: tuple[Path, Path]) -> None:
    found = read_frame(*node)
    assert (found.total, found.available) == (2000000 * 1024, 501000 * 1024)


def test_the_largest_processes_are_read_by_what_is_their_own(node: tuple[Path, Path]) -> None:
    found = read_frame(*node).processes
    assert [(one.pid, one.own // MIB) for one in found] == [(70, 5000), (71, 2000)]
    assert (found[0].name, found[0].started) == ("my (odd) name", 12300 / os.sysconf("SC_CLK_TCK"))


def test_a_process_is_limited_by_the_tightest_group_around_it_and_cache_does_not_count(
    node: tuple[Path, Path],
) -> None:
    found = read_frame(*node)
    assert [one.group for one in found.processes] == ["/kubepods.slice/pod1.slice", ""]
    assert found.groups == {"/kubepods.slice/pod1.slice": Group(8000 * MIB, 6400 * MIB)}


def test_only_so_many_processes_are_held(node: tuple[Path, Path]) -> None:
    assert [one.pid for one in read_frame(*node, most=1).processes] == [70]


def test_a_node_that_does_not_say_what_is_available_was_not_measured(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="MemAvailable"):
        read_frame(grow(tmp_path, "meminfo: MemTotal: 5 kB"), tmp_path)


@contextmanager
def started(script: str, *words: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", script, *words], stdin=subprocess.PIPE) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def own(pid: int) -> int:
    found = read_frame(Path("/proc"), Path("/sys"), most=4096).processes
    return next((one.own for one in found if one.pid == pid), 0)


def test_what_a_real_process_takes_counts_and_what_it_maps_of_a_file_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "LEAST_BYTES", 48 * MIB)
    file = tmp_path / "dataset"
    file.write_bytes(bytes(64 * MIB))
    maps = (
        "import mmap, sys; file = open(sys.argv[1], 'rb');"
        "mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ); sum(mapped[::4096]); sys.stdin.read()"
    )
    with started("import sys; taken = bytearray(64 << 20); sys.stdin.read()") as pid:
        eventually(lambda: own(pid) >= 64 * MIB)
    with started(maps, str(file)) as pid:
        statm = Path(f"/proc/{pid}/statm")
        eventually(lambda: int(statm.read_text().split()[1]) * mmap.PAGESIZE >= 64 * MIB)
        assert own(pid) == 0
