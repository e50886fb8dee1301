"""Asking for a save through beat files, with processes that answer, lag, lie and end."""

import json
import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.commands.doing import Errand
from agent.commands.doings.request_save import RequestsSave, write_token
from agent.job.beat import Phase
from agent.job.table import ProcessTable
from agent.polls.source import since_boot
from policies.contract.commands.operations import RequestSave
from tests.tools.beat_files import look
from tests.tools.beats import beat
from tests.tools.sources import eventually

MakeErrand = Callable[..., Errand]
PROC = Path("/proc")


class Rank:
    """One training process's side of its beat file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def wanted(self) -> int:
        return look(self.path).request

    @property
    def saved(self) -> int:
        return look(self.path).fulfilled

    def answer(self, token: int, step: int) -> None:
        self._write(48, struct.pack("<Qq", token, step))

    def phase(self, phase: Phase) -> None:
        self._write(40, struct.pack("<I", phase))

    def _write(self, offset: int, data: bytes) -> None:
        with self.path.open("r+b") as file:
            file.seek(offset)
            file.write(data)


class Job:
    """Ranks of this very process, each with a beat file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        table = ProcessTable(folder, PROC, since_boot)
        self.doing = RequestsSave(folder, lambda: list(table.beating(at_most_old=0.0)))

    def rank(self, number: int, job: str = "train/llama") -> Rank:
        told = {"pid": os.getpid(), "pid_namespace": None, "at": since_boot(), "job": job, "rank": number}
        return Rank(beat(self.folder, f"rank{number}", **told))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "beats")


def answering(*ranks: Rank, step: int, stop: threading.Event) -> threading.Thread:
    def work() -> None:
        while not stop.wait(0.01):
            for rank in ranks:
                if rank.wanted and rank.wanted != rank.saved:
                    rank.answer(rank.wanted, step)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_it_worked_when_every_process_has_answered_with_the_token(job: Job, errand: MakeErrand) -> None:
    ranks = [job.rank(0), job.rank(1)]
    stop = threading.Event()
    thread = answering(*ranks, step=120, stop=stop)
    outcome = job.doing.run(RequestSave(token=77), errand())
    stop.set()
    thread.join()
    assert (outcome.ok, outcome.facts) == (True, {"asked": 2, "saved": 2, "step": 120})


def test_who_does_not_save_in_time_is_counted(job: Job, errand: MakeErrand) -> None:
    quick, slow = job.rank(0), job.rank(1)
    quick.answer(77, 120)
    outcome = job.doing.run(RequestSave(token=77), errand(0.5))
    assert (outcome.ok, outcome.reason) == (False, "1 of 2 processes have not saved")
    assert slow.wanted == 77


def test_a_process_that_ends_before_it_saved_ends_the_wait(job: Job, errand: MakeErrand) -> None:
    rank = job.rank(0)
    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(job.doing.run(RequestSave(token=5), errand(60)).ok))
    thread.start()
    eventually(lambda: rank.wanted == 5)
    rank.phase(Phase.ENDED)
    thread.join(60)
    assert done == [False]


def test_different_steps_are_no_checkpoint(job: Job, errand: MakeErrand) -> None:
    one, other = job.rank(0), job.rank(1)
    one.answer(9, 100)
    other.answer(9, 101)
    outcome = job.doing.run(RequestSave(token=9), errand())
    assert (outcome.ok, outcome.reason) == (False, "they saved different steps: [100, 101]")


def test_only_the_named_job_is_asked(job: Job, errand: MakeErrand) -> None:
    mine, other = job.rank(0), job.rank(1, job="train/other")
    mine.answer(9, 100)
    assert job.doing.run(RequestSave(token=9, job="train/llama"), errand()).ok
    assert (mine.wanted, other.wanted) == (9, 0)
    assert job.doing.why_not(RequestSave(token=9, job="train/none")) == "no process beats here for job train/none"


def test_where_nobody_beats_it_is_refused(job: Job) -> None:
    assert job.doing.why_not(RequestSave(token=9)) == "no process beats here"


def test_after_a_crash_the_answers_are_looked_at(job: Job, errand: MakeErrand) -> None:
    rank = job.rank(0)
    assert not job.doing.look_back(RequestSave(token=9), errand(0.2)).ok
    rank.answer(9, 100)
    assert job.doing.look_back(RequestSave(token=9), errand(0.2)).ok
    assert not job.doing.look_back(RequestSave(token=9), errand(0.2, rebooted=True)).ok
    assert rank.wanted == 0


def test_the_token_is_all_that_is_written(job: Job) -> None:
    rank = job.rank(0)
    before = rank.path.read_bytes()
    write_token(rank.path, 2**63 - 1)
    after = rank.path.read_bytes()
    changed = [at for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    assert changed == list(range(256, 264))
    assert struct.unpack_from("<Q", after, 256) == (2**63 - 1,)


@pytest.mark.parametrize("content", [b"", b"something else", b"\0" * 4096])
def test_what_is_no_beat_file_is_not_written_to(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.beat"
    path.write_bytes(content)
    with pytest.raises(OSError, match="no beat file"):
        write_token(path, 1)
    assert path.read_bytes() == content


def test_no_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text(json.dumps({"precious": True}))
    (tmp_path / "x.beat").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        write_token(tmp_path / "x.beat", 1)
