import json
import os
import struct
from pathlib import Path

import pytest

from agent.evidence.training_files import BEAT_BYTES, copy_dumps, copy_tails, prefixes, write_beats

SECRET = "root:x:0:0"


class Process:
    """A process in a container, as /proc shows it: its environment, its root."""

    def __init__(self, folder: Path, pid: int, **environ: str) -> None:
        self.proc = folder / "proc" / str(pid)
        self.root = folder / f"root{pid}"
        self.proc.mkdir(parents=True)
        (self.root / "tmp").mkdir(parents=True)
        (self.proc / "root").symlink_to(self.root)
        (self.proc / "cwd").symlink_to(self.root / "tmp")
        (self.proc / "environ").write_text("".join(f"{name}={value}\0" for name, value in environ.items()))

    def write(self, path: str, text: str = "dump") -> Path:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def copied(out: Path, *processes: Process, limit: int = 10_000, each: int = 1000) -> dict[str, str]:
    copy_dumps(out, [process.proc for process in processes], limit, each)
    return {path.name.removeprefix("flight-recorder-"): path.read_text() for path in out.iterdir()}


def test_a_dump_is_looked_for_where_pytorch_of_any_age_writes_it() -> None:
    assert prefixes({}) == ["/tmp/nccl_trace_rank_"]
    assert prefixes({"HOME": "/u"}) == ["/tmp/nccl_trace_rank_", "/u/.cache/torch/comm_lib_trace_rank_"]
    assert prefixes({"HOME": "/u", "XDG_CACHE_HOME": "/c"})[-1] == "/c/torch/comm_lib_trace_rank_"
    told = prefixes({"TORCH_FR_DUMP_TEMP_FILE": "/a_", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "/b_"})
    assert told[:2] == ["/a_", "/b_"]


def test_dumps_are_copied_out_of_the_processs_own_container(tmp_path: Path, out: Path) -> None:
    named = Process(tmp_path, 7, TORCH_FR_DUMP_TEMP_FILE="/fsx/run/trace_", HOME="/u")
    named.write("/fsx/run/trace_3", "three")
    named.write("/u/.cache/torch/comm_lib_trace_rank_3", "cached")
    relative = Process(tmp_path, 8, TORCH_NCCL_DEBUG_INFO_TEMP_FILE="here_")
    relative.write("/tmp/here_4", "four")
    relative.write("/tmp/nccl_trace_rank_4", "default")
    assert copied(out, named, relative) == {
        "7-trace_3": "three",
        "7-comm_lib_trace_rank_3": "cached",
        "8-here_4": "four",
        "8-nccl_trace_rank_4": "default",
    }
    assert {path.stat().st_mode & 0o777 for path in out.iterdir()} == {0o600}


def test_what_the_environment_names_is_no_way_to_read_anything_else(tmp_path: Path, out: Path) -> None:
    (tmp_path / "shadow3").write_text(SECRET)
    linked = Process(tmp_path, 7, TORCH_FR_DUMP_TEMP_FILE="/tmp/trace_")
    (linked.root / "tmp" / "trace_3").symlink_to(tmp_path / "shadow3")
    above = Process(tmp_path, 8, TORCH_FR_DUMP_TEMP_FILE="/../shadow")
    outside = Process(tmp_path, 9, TORCH_FR_DUMP_TEMP_FILE="/out/shadow")
    (outside.root / "out").symlink_to(tmp_path)
    fifo = Process(tmp_path, 10, TORCH_FR_DUMP_TEMP_FILE="/tmp/trace_")
    os.mkfifo(fifo.root / "tmp" / "trace_1")
    assert copied(out, linked, above, outside, fifo) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to give a file away")
def test_a_file_of_another_user_is_none_of_its_dumps(tmp_path: Path, out: Path) -> None:
    process = Process(tmp_path, 7, TORCH_FR_DUMP_TEMP_FILE="/etc/shadow")
    os.chown(process.write("/etc/shadow1", SECRET), 4711, 4711)
    assert copied(out, process) == {}


def test_a_dump_that_two_processes_name_is_kept_once_and_all_together_are_bounded(tmp_path: Path, out: Path) -> None:
    one, two = (Process(tmp_path, pid, TORCH_FR_DUMP_TEMP_FILE="/tmp/trace_") for pid in (7, 8))
    for number in range(5):
        os.link(one.write(f"/tmp/trace_{number}", "x" * 3000), two.root / "tmp" / f"trace_{number}")
    kept = copied(out, one, two, limit=2500, each=1000)
    assert [len(text) for _, text in sorted(kept.items())] == [1000, 1000, 500]


def test_what_ranks_that_ended_left_on_the_node_within_the_hour_is_kept(tmp_path: Path, out: Path) -> None:
    host = Process(tmp_path, 1)
    host.write("/tmp/nccl_trace_rank_0", "left")
    old = host.write("/tmp/nccl_trace_rank_1", "of last week")
    os.utime(old, (1, 1))
    (host.root / "tmp" / "nccl_trace_rank_2").symlink_to(old)
    copy_dumps(out, [], 1000, 1000, host.proc)
    assert {path.name: path.read_text() for path in out.iterdir()} == {
        "flight-recorder-1-nccl_trace_rank_0": "left",
    }


def test_a_process_whose_environment_is_barred_is_noted(tmp_path: Path, out: Path) -> None:
    process = Process(tmp_path, 7)
    (process.proc / "environ").unlink()
    [told] = copy_dumps(out, [process.proc], 1000, 1000)
    assert "cannot be looked for" in str(told["error"])


def test_the_end_of_a_log_is_kept_without_its_secrets(tmp_path: Path, out: Path) -> None:
    log = tmp_path / "rank3.log"
    log.write_text("x" * 5000 + "\nWANDB_API_KEY=hunter2\nlast line\n")
    [told, missing] = copy_tails(out, [str(log), str(tmp_path / "gone")], 10_000, 1000)
    text = (out / "training-log-0.txt").read_text()
    assert text.startswith(f"# {log}\n")
    assert "last line" in text
    assert "hunter2" not in text
    assert told["cut"] is True
    assert "No such file" in str(missing["error"])


def test_beats_are_told_in_words(tmp_path: Path, out: Path) -> None:
    beats = tmp_path / "beats"
    beats.mkdir()
    header = json.dumps({"pid": 7, "rank": 3}).encode()
    data = bytearray(BEAT_BYTES)
    struct.pack_into("<8sI4xQQqI", data, 0, b"RLBEAT01", len(header), 12, 5_500_000_000, 400, 3)
    struct.pack_into("<Qq", data, 48, 9, 390)
    struct.pack_into("<Q", data, 256, 10)
    data[512 : 512 + len(header)] = header
    (beats / "a.beat").write_bytes(data)
    (beats / "b.beat").write_bytes(b"short")
    (beats / "c.beat").symlink_to("/etc/hostname")
    write_beats(out, beats, 10_000)
    lines = (out / "beats.txt").read_text().splitlines()
    assert lines[0] == ('a.beat: beats=12 last=5.500s step=400 phase=train saved=9@390 asked=10 {"pid": 7, "rank": 3}')
    assert lines[1] == "b.beat: is no beat file"
    assert lines[2].startswith("c.beat: ")
    assert len(lines) == 3
