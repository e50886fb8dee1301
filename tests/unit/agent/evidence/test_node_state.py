import os
import subprocess
import time
from pathlib import Path

import pytest

from agent.evidence.bounded import BoundedFile
from agent.evidence.node_state import busiest, last_written, write_fabric, write_kernel_log, write_node
from agent.evidence.process_state import find_training, write_states
from tests.tools.sources import eventually

PROC = Path("/proc")


def written(path: Path, write: object, limit: int = 1 << 20) -> str:
    out = BoundedFile(path, limit)
    assert callable(write)
    write(out)
    out.close()
    return path.read_text(errors="replace")


def test_what_proc_tells_of_the_node_is_kept(tmp_path: Path) -> None:
    text = written(tmp_path / "x", lambda out: write_node(out, PROC))
    assert "MemAvailable:" in text
    assert "== net/dev" in text
    assert "== pressure/io" in text


def test_interrupts_are_told_by_how_many_there_were() -> None:
    told = busiest("     CPU0   CPU1\n  1:  10  20  IO-APIC  timer\n 40:  500  0  PCI-MSI  nvidia\nERR: 0\n")
    assert told == ["500 40 PCI-MSI nvidia", "30 1 IO-APIC timer"]


def test_ports_and_their_counters_are_told(tmp_path: Path) -> None:
    port = tmp_path / "class" / "infiniband" / "mlx5_0" / "ports" / "1"
    (port / "hw_counters").mkdir(parents=True)
    (port / "state").write_text("4: ACTIVE\n")
    (port / "hw_counters" / "out_of_sequence").write_text("7\n")
    text = written(tmp_path / "x", lambda out: write_fabric(out, tmp_path))
    assert "== mlx5_0/1" in text
    assert "state: 4: ACTIVE" in text
    assert "hw_counters/out_of_sequence: 7" in text


def test_where_there_is_no_fabric_that_is_what_is_kept(tmp_path: Path) -> None:
    assert "No such file" in written(tmp_path / "x", lambda out: write_fabric(out, tmp_path))


def test_of_a_log_file_the_end_is_kept(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("first\n" + "x" * 1000 + "\nlast\n")
    text = written(tmp_path / "x", lambda out: write_kernel_log(out, tmp_path / "log", 50), 50)
    assert text.endswith("last\n")
    assert len(text) == 50


def is_barred(path: str) -> bool:
    """Tell whether it cannot be opened: where kernel.dmesg_restrict is set, its mode alone does not say so."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return True
    return False


@pytest.mark.skipif(is_barred("/dev/kmsg"), reason="this machine's kernel log is barred")
def test_of_the_kernels_own_log_the_end_is_kept_and_nothing_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    text = written(tmp_path / "x", lambda out: write_kernel_log(out, Path("/dev/kmsg"), 3000), 3000)
    assert time.monotonic() - began < 60
    assert len(text) <= 3000
    whole = written(tmp_path / "y", lambda out: write_kernel_log(out, Path("/dev/kmsg"), 1 << 20))
    assert text[-200:] in whole


def states_of(pid: int, path: Path) -> str:
    return written(path, lambda out: write_states(out, PROC, [pid]))


def test_what_a_process_waits_for_is_told_thread_by_thread(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"], env={"RANK": "5", "HF_TOKEN": "hunter2"}) as process:
        try:
            asleep = f"-- {process.pid} sleep S cpu="  # not before it has begun
            eventually(lambda: process.pid in find_training(PROC) and asleep in states_of(process.pid, tmp_path / "x"))
            text = states_of(process.pid, tmp_path / "x")
        finally:
            process.kill()
    assert f"== {process.pid}\ncommand: sleep 600\n" in text
    assert asleep in text
    assert "environment: RANK=5" in text
    assert "hunter2" not in text


def test_a_process_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    text = written(tmp_path / "x", lambda out: write_states(out, PROC, [process.pid, os.getpid()]))
    assert f"== {process.pid}" in text
    assert f"== {os.getpid()}" in text


def test_logs_written_last_come_first(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        path = tmp_path / str(number)
        path.touch()
        os.utime(path, (number, number))
        paths.append(str(path))
    assert last_written([*paths, str(tmp_path / "gone")], 2) == [paths[2], paths[1]]
