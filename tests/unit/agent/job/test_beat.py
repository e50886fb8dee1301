import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.job.beat import Phase, parse_beat
from agent.job.beat_files import MOST_FILES, read_beats
from agent.job.table import ProcessTable
from policies.contract.vocabulary import Orchestrator
from tests.tools.beats import beat, beat_bytes, process


def test_a_beat_says_who_beats_and_where_it_is() -> None:
    found = parse_beat(
        beat_bytes(
            pid=7,
            beats=12,
            at=3.5,
            step=41,
            phase=4,
            saved=(9, 40),
            job="ml/llama",
            orchestrator="eks",
            rank=3,
            local_rank=1,
            world_size=16,
            checkpoint="s3://b/p",
            pod="llama-worker-2",
            namespace="ml",
        )
    )
    assert found
    assert (found.pid, found.beats, found.at, found.step, found.phase) == (7, 12, 3_500_000_000, 41, Phase.SAVE)
    assert (found.saved_token, found.saved_step) == (9, 40)
    assert (found.job, found.orchestrator, found.checkpoint) == ("ml/llama", Orchestrator.EKS, "s3://b/p")
    assert (found.rank, found.local_rank, found.world_size, found.pod) == (3, 1, 16, "llama-worker-2")


def test_what_is_not_told_is_not_known() -> None:
    found = parse_beat(beat_bytes(pid=7, step=-1, phase=99))
    assert found
    assert (found.step, found.phase, found.rank, found.job, found.saved_step) == (None, Phase.UNKNOWN, None, "", None)


def with_length(length: int) -> bytes:
    data = bytearray(beat_bytes())
    struct.pack_into("<I", data, 8, length)
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(4096),
        beat_bytes()[:4095],
        b"RLBEAT02" + beat_bytes()[8:],
        with_length(0),
        with_length(3),
        with_length(3585),
        with_length(2**32 - 1),
        beat_bytes(pid=0),
        beat_bytes(pid=-4),
        beat_bytes(pid=2**31),
    ],
)
def test_what_is_torn_or_foreign_is_no_beat(data: bytes) -> None:
    assert parse_beat(data) is None


@pytest.mark.parametrize(
    "header",
    [
        {"rank": -1},
        {"rank": True},
        {"rank": "3"},
        {"job": 7},
        {"job": "x" * 600},
        {"job": "a\nb"},
        {"orchestrator": "k"},
    ],
)
def test_a_lie_in_the_header_is_left_out(header: dict[str, object]) -> None:
    found = parse_beat(beat_bytes(**header))  # type: ignore[arg-type]
    assert found
    assert (found.rank, found.job, found.orchestrator) == (None, "", None)


@given(st.binary(max_size=600), st.integers(0, 2**32 - 1))
def test_nothing_that_lies_there_raises(junk: bytes, length: int) -> None:
    parse_beat(b"RLBEAT01" + struct.pack("<I", length) + junk + bytes(4096))
    parse_beat((with_length(length)[:512] + junk).ljust(4096, b"\0"))


def test_only_regular_files_are_read_and_no_link_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "beats"
    path = beat(folder, "rank0", pid=7)
    (folder / "link.beat").symlink_to(path)
    (folder / "folder.beat").mkdir()
    os.mkfifo(folder / "pipe.beat")
    (folder / "short.beat").write_bytes(b"RLBEAT01")
    (folder / "huge.beat").write_bytes(b"x" * (1 << 20))
    (folder / "rank0.beat.tmp").write_bytes(beat_bytes(pid=8))
    (found,) = read_beats(folder)
    assert (found.name, found.owner, found.beat.pid) == ("rank0.beat", os.getuid(), 7)


def test_a_folder_that_is_missing_or_no_folder_has_no_beats(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert read_beats(tmp_path / "none") == []
    assert read_beats(tmp_path / "file") == []


def test_of_very_many_files_the_newest_are_read(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 20):
        path = beat(tmp_path, f"{number:04}", pid=number + 1)
        os.utime(path, ns=(number, number))
    found = read_beats(tmp_path)
    assert [one.beat.pid for one in found] == [number + 1 for number in range(20, MOST_FILES + 20)]


def test_nobody_hides_one_that_trains_behind_many_files(tmp_path: Path) -> None:
    folder, proc, now = tmp_path / "beats", tmp_path / "proc", 10.0
    process(proc, 100)
    os.utime(beat(folder, "mine"), (1, 1))
    table = ProcessTable(folder, proc, lambda: now)
    assert [one.name for one in table.beating()] == ["mine.beat"]
    for number in range(3000):
        (folder / f"{number}.beat").write_bytes(b"RLBEAT01")
    now = 20.0
    assert [one.name for one in table.beating() if one.process] == ["mine.beat"]
    (folder / "mine.beat").unlink()
    now = 30.0
    table.beating()
    assert [one.said_goodbye for one in table.lately().values()] == [True]
