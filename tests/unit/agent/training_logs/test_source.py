import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.follow.reader import LogItem
from agent.follow.tail import FileTail
from agent.spool.spool import Spool
from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator
from tests.tools.sources import eventually, waiting
from tests.unit.agent.training_logs.ranks import Ranks

TIMEOUT = (
    "[rank3]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, Timeout(ms)=600000) ran for 600029 milliseconds before timing out."
)
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.87 GiB"


def followed(spool: Spool, path: Path) -> Callable[[], bool]:
    return lambda: spool.progress(f"training_log:{path}") is not None


def looked(spool: Spool) -> None:
    """Wait until the source has looked for the first time: what comes now is news."""
    eventually(lambda: spool.progress("training_log") is not None)


def kinds(spool: Spool) -> list[str]:
    return [event["kind"] for event in waiting(spool)]


def test_a_rank_s_fault_names_its_job_rank_and_step_and_blames_no_part_of_the_node(ranks: Ranks) -> None:
    ranks.job = JobRef(id="ns/run", orchestrator=Orchestrator.EKS, rank=0, step=1, checkpoint="s3://b/c")
    with ranks.running() as spool:
        looked(spool)
        ranks.write("attempt_0/rank_3.log", "Epoch 2 iteration     1200/   5000 | loss 2.3", TIMEOUT)
        eventually(lambda: spool.waiting == 1)
        (event,) = waiting(spool)
    assert (event["kind"], event["source"]) == ("training.collective_timeout", "training_log")
    assert event["component"] == {"type": "process"}
    assert event["job"] == {
        "id": "ns/run",
        "orchestrator": "eks",
        "rank": 3,
        "step": 1200,
        "epoch": 2,
        "checkpoint": "s3://b/c",
    }
    assert event["attributes"]["file"].endswith("attempt_0/rank_3.log")


def test_without_a_job_the_event_says_what_the_log_says(ranks: Ranks) -> None:
    with ranks.running() as spool:
        looked(spool)
        ranks.write("rank7.log", "step: 41  loss: 1.2", OUT_OF_MEMORY)
        eventually(lambda: spool.waiting == 1)
        (event,) = waiting(spool)
    assert "job" not in event
    assert (event["attributes"]["rank"], event["attributes"]["step"]) == (7, 41)


def test_old_logs_are_left_alone_until_somebody_writes_to_them(ranks: Ranks) -> None:
    ranks.write("old.log", OUT_OF_MEMORY)
    with ranks.running() as spool:
        looked(spool)
        assert spool.waiting == 0
        ranks.write("old.log", TIMEOUT)
        eventually(lambda: spool.waiting == 1)
        assert kinds(spool) == ["training.collective_timeout"]


def test_a_restart_tells_nothing_twice_and_misses_nothing(ranks: Ranks) -> None:
    with ranks.running() as spool:
        looked(spool)
        ranks.write("a.log", TIMEOUT)
        eventually(lambda: spool.waiting == 1)
    ranks.write("a.log", OUT_OF_MEMORY)  # while nobody looks
    ranks.write("b.log", OUT_OF_MEMORY)
    with ranks.running() as spool:
        eventually(lambda: spool.waiting == 3)
        time.sleep(0.1)
        events = waiting(spool)
    assert len({event["id"] for event in events}) == 3
    assert sorted(event["kind"] for event in events[1:]) == ["training.out_of_memory"] * 2


def test_a_log_that_is_rotated_is_not_read_again_under_its_new_name(ranks: Ranks) -> None:
    with ranks.running() as spool:
        looked(spool)
        path = ranks.write("a.log", TIMEOUT)
        eventually(lambda: spool.waiting == 1)
        path.rename(path.with_name("a.log.1"))
        time.sleep(0.1)
        ranks.write("a.log", OUT_OF_MEMORY)
        eventually(lambda: spool.waiting == 2)
        time.sleep(0.2)
        assert len(waiting(spool)) == 2
    ranks.write("b.log", TIMEOUT)  # what is read by the same look
    with ranks.running() as spool:
        eventually(lambda: spool.waiting >= 3)
        assert len(waiting(spool)) == 3


def test_only_so_many_files_are_open_and_what_is_left_out_is_told(ranks: Ranks) -> None:
    with ranks.running(at_most=4) as spool:
        looked(spool)
        before = len([*Path("/proc/self/fd").iterdir()])
        for number in range(10):
            ranks.write(f"{number}.log", "step 1")
        eventually(lambda: spool.waiting >= 1)
        time.sleep(0.1)
        assert len([*Path("/proc/self/fd").iterdir()]) - before <= 4
        events = waiting(spool)
    assert {(event["kind"], event["attributes"]["reason"]) for event in events} == {("pipeline.gap", "too_many_files")}


def test_the_place_of_a_file_that_is_gone_is_forgotten(ranks: Ranks) -> None:
    with ranks.running() as spool:
        looked(spool)
        path = ranks.write("a.log", TIMEOUT)
        eventually(followed(spool, path))
        path.unlink()
        eventually(lambda: spool.progress(f"training_log:{path}") is None)


def test_an_exit_code_after_a_stronger_word_names_it(ranks: Ranks) -> None:
    with ranks.running() as spool:
        looked(spool)
        ranks.write("a.log", OUT_OF_MEMORY, "Sending process 812914 closing signal SIGTERM")
        eventually(lambda: spool.waiting == 2)
        cause, ending = waiting(spool)
    assert "after" not in cause["attributes"]
    assert ending["attributes"]["after"] == "training.out_of_memory"


def test_the_writer_of_a_file_tells_job_and_rank_when_nothing_nearer_does(ranks: Ranks) -> None:
    with ranks.running() as spool:
        looked(spool)
        path = ranks.write("stdout.log", "hello")
        process = ranks.proc / "4242"
        (process / "fd").mkdir(parents=True)
        (process / "fd" / "1").symlink_to(path)
        (process / "environ").write_bytes(b"RANK=11\0SLURM_JOB_ID=77\0")
        ranks.write("stdout.log", OUT_OF_MEMORY)
        eventually(lambda: spool.waiting == 1)
        (event,) = waiting(spool)
    assert event["job"] == {"id": "77", "orchestrator": "slurm", "rank": 11}


@pytest.mark.parametrize("name", ["a.log.gz", "a.log.1"])
def test_what_was_rotated_away_is_no_log_of_its_own(ranks: Ranks, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("agent.training_logs.source._LOOK_SECONDS", 0.05)
    with ranks.running() as spool:
        looked(spool)
        ranks.write("a.log", TIMEOUT)
        eventually(lambda: spool.waiting == 1)
        ranks.write(name, OUT_OF_MEMORY)
        ranks.write("b.log", TIMEOUT)  # seen by the same look as that file, or a later one
        eventually(lambda: spool.waiting == 2)
        assert kinds(spool) == ["training.collective_timeout"] * 2


def test_a_log_that_was_rotated_before_anybody_looked_is_read_all_the_same(
    ranks: Ranks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.training_logs.source._LOOK_SECONDS", 0.5)
    with ranks.running() as spool:
        looked(spool)
        path = ranks.write("a.log", TIMEOUT)
        path.rename(path.with_name("a.log.1"))
        ranks.write("a.log", OUT_OF_MEMORY)
        eventually(lambda: spool.waiting == 2)
        assert kinds(spool) == ["training.collective_timeout", "training.out_of_memory"]
        ranks.write("b.log", TIMEOUT)  # seen by a later look
        eventually(lambda: spool.waiting >= 3)
        assert len(kinds(spool)) == 3


def test_a_log_that_cannot_be_read_stops_no_other_and_is_said_once(
    ranks: Ranks, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = FileTail.look

    def look(tail: FileTail) -> list[LogItem]:
        if tail._path.name == "barred.log":
            raise PermissionError(13, "Permission denied")
        return real(tail)

    monkeypatch.setattr(FileTail, "look", look)
    with ranks.running() as spool:
        looked(spool)
        ranks.write("barred.log", OUT_OF_MEMORY)  # whoever finds the other has found this one
        ranks.write("a.log", TIMEOUT)
        eventually(lambda: spool.waiting == 1)
    assert [record.message for record in caplog.records] == ["training log cannot be read"]
