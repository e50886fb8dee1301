import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.job.progress import ProgressPoll
from agent.job.rhythm import Bounds
from agent.job.table import ProcessTable
from agent.job.told import JobsTold
from agent.job_file import JobFile
from policies.contract.progress import JobProgress
from tests.tools.beats import beat, process
from tests.tools.polling import LATE, Bench, bench

HOUR = 3600


class Node:
    """A made-up node on which four ranks train, one step a second; its clock goes when told."""

    def __init__(self, folder: Path, work: Bench) -> None:
        self.folder, self.work, self.second, self.beats = folder, work, 0.0, 0
        self.step, self.saves, self.first_rank, self.overdue = 0, (0, 0.0, -1), 0, 0.0
        self.own: dict[int, float] = {}
        self.lateness: dict[int, float] = {}
        for pid in (1, *range(100, 104)):
            process(folder / "proc", pid)
        self.begin()

    def begin(self) -> None:
        table = ProcessTable(self.folder / "beats", self.folder / "proc", lambda: LATE + self.second)
        self.told = JobsTold(lambda: LATE + self.second)
        job_file = JobFile(self.folder / "job.json")
        self.poll = ProgressPoll(table, job_file, self.told, Bounds(), self.overdue)

    @property
    def said(self) -> list[JobProgress]:
        text = self.told()
        return [JobProgress.model_validate(one) for one in json.loads(text)] if text else []

    def beat(self, local: int, **more: Any) -> None:  # noqa: ANN401
        pid = 100 + local
        steps = self.step + int(-self.lateness.get(local, 0.0) * self.step)
        told = {"job": "train/llama", "orchestrator": "eks", "rank": self.first_rank + local, "world_size": 64}
        fields: dict[str, Any] = {"at": LATE + self.second, "step": steps, "saves": self.saves, **told, **more}
        own = self.own.get(local, 0.0) * self.step
        beat(self.folder / "beats", str(local), pid=pid, beats=self.beats, own=own, **fields)

    def train(self, seconds: int, look: int = 30, ranks: int = 4, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Go on for so many *seconds* and look as often; return what was told."""
        told = []
        for _ in range(seconds // look):
            self.second, self.step, self.beats = self.second + look, self.step + look, self.beats + look
            for local in range(ranks):
                self.beat(local, **more)
            told += self.work.poll(self.poll, self.second)
        return told

    def save(self) -> None:
        self.saves = (self.saves[0] + 1, LATE + self.second, self.step)

    def idle(self, seconds: int) -> list[dict[str, Any]]:
        """Stand still for so many *seconds*."""
        told = []
        for _ in range(seconds // 30):
            self.second += 30
            told += self.work.poll(self.poll, self.second)
        return told

    def train_and_save(self, times: int, every: int) -> None:
        for _ in range(times):
            assert self.train(every, 60) == []
            self.save()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with bench() as work:
        yield Node(tmp_path, work)


def test_the_first_rank_s_node_says_how_the_job_goes(node: Node) -> None:
    node.train_and_save(3, 600)
    node.train(120, value=2.5)
    (said,) = node.said
    assert (said.id, said.orchestrator, said.world_size, said.alive) == ("train/llama", "eks", 64, True)
    assert (said.step, said.saved_step, said.value) == (1920, 1800, 2.5)
    assert (said.saved_ago, said.save_seconds, said.step_seconds, said.moved_ago) == (120.0, 600.0, 1.0, 0.0)
    node.second += 7
    assert node.said[0].saved_ago == 127.0


def test_another_rank_s_node_says_nothing(node: Node) -> None:
    node.first_rank = 8
    node.train(60)
    assert node.said == []


def test_where_no_rank_is_told_each_node_says_what_it_sees(node: Node) -> None:
    node.train(60, rank=None)
    assert [one.step for one in node.said] == [60]


def test_what_is_old_is_not_said(node: Node) -> None:
    node.train(60)
    node.second += 61
    assert node.told() == b""


def test_a_run_that_stands_still_or_is_gone_is_not_alive(node: Node) -> None:
    node.train(120)
    node.idle(210)
    (said,) = node.said
    assert (said.alive, said.moved_ago) == (False, 210.0)
    for local in range(4):
        (node.folder / "proc" / str(100 + local) / "stat").unlink()
    node.idle(30)
    assert [one.alive for one in node.said] == [False]


def test_a_run_that_said_goodbye_is_not_spoken_of(node: Node) -> None:
    node.train(60)
    node.train(30, phase=7)
    assert node.said == []


def test_the_newest_save_outlives_the_process_and_the_agent(node: Node) -> None:
    node.train_and_save(4, 600)
    node.train(60)
    node.saves = (0, 0.0, -1)
    node.work.restart()
    node.begin()
    node.train(300, started_at="another run")
    (said,) = node.said
    assert (said.saved_step, said.saved_ago, said.save_seconds) == (2400, 360.0, 600.0)


def test_a_job_file_says_who_it_is_what_it_is_worth_and_what_was_saved(node: Node) -> None:
    told = {"id": "mine", "orchestrator": "slurm", "rank": 0, "step": 70, "value": 9, "world_size": 128}
    saved = {"saved_step": 50, "saved_at": "2020-01-01T00:00:00Z"}
    (node.folder / "job.json").write_text(json.dumps({**told, **saved}))
    node.work.poll(node.poll, 0)
    (by_file,) = node.said
    assert (by_file.id, by_file.step, by_file.saved_step, by_file.value, by_file.world_size) == ("mine", 70, 50, 9, 128)
    assert by_file.saved_ago is not None
    assert by_file.alive is None
    node.train(60)
    assert [(one.id, one.step, one.value, one.alive) for one in node.said] == [("mine", 60, 9, True)]
    (node.folder / "job.json").write_text(json.dumps({**told, "rank": 8}))
    node.train(30)
    assert [one.id for one in node.said] == ["mine"]  # the beats of rank 0 are here, whatever the file says


def test_remarks_that_are_wrong_cost_the_job_file_nothing_else(node: Node) -> None:
    (node.folder / "job.json").write_text(json.dumps({"id": "mine", "value": "dear", "saved_step": -7}))
    node.work.poll(node.poll, 0)
    assert [(one.id, one.value, one.saved_step) for one in node.said] == [("mine", None, None)]


def test_no_save_for_three_times_the_usual_distance_is_told_and_over_with_the_next(node: Node) -> None:
    node.train_and_save(3, 600)
    assert node.train(1800) == []
    (event,) = node.train(60)
    assert (event["kind"], event["severity"]) == ("training.checkpoint_overdue", "warning")
    assert event["component"] == {"type": "job", "uuid": "train/llama"}
    told = event["attributes"]
    assert (told["saved_step"], told["usual_seconds"], told["allowed_seconds"]) == (1800, 600.0, 1800.0)
    assert told["saved_seconds_ago"] == 1830.0
    node.save()
    (over,) = node.train(120)
    assert (over["kind"], over["attributes"]["of"]) == ("condition.cleared", "training.checkpoint_overdue")


def test_one_distance_teaches_nothing_and_two_saves_at_one_step_are_one(node: Node) -> None:
    node.train_and_save(2, 600)
    assert node.train(HOUR) == []
    for _ in range(4):
        node.save()
        node.train(30)
        node.saves = (node.saves[0] + 1, LATE + node.second, node.saves[2])
        node.train(840)
    assert node.said[0].save_seconds == 840.0


def test_an_operator_s_bound_holds_whatever_is_usual(node: Node) -> None:
    node.overdue = 900.0
    node.begin()
    node.train(60)
    node.save()
    assert node.train(900) == []
    assert [event["kind"] for event in node.train(30)] == ["training.checkpoint_overdue"]


def test_a_run_that_stands_still_is_not_said_to_be_overdue(node: Node) -> None:
    node.train_and_save(3, 600)
    node.train(30)
    assert node.idle(HOUR) == []


def test_a_rank_that_reads_its_batches_slowly_is_told_after_three_minutes(node: Node) -> None:
    node.own = {0: 0.05, 1: 0.05, 2: 0.4, 3: 0.05}
    assert node.train(240) == []
    (event,) = node.train(60)
    assert (event["kind"], event["component"]) == ("training.straggler", {"type": "process", "index": 102})
    told = event["attributes"]
    assert (told["rank"], told["measured"], told["peers"]) == (2, "own", 3)
    assert (told["seconds"], told["peers_seconds"]) == (0.4, 0.05)
    node.own = {}  # they tell no more
    over = node.train(240)
    assert [(one["kind"], one["attributes"]["of"]) for one in over] == [("condition.cleared", "training.straggler")]


def test_ranks_that_wait_for_each_other_and_tell_only_steps_accuse_nobody(node: Node) -> None:
    assert node.train(HOUR // 2) == []


def test_a_rank_whose_steps_take_longer_is_told_and_one_of_another_role_is_not(node: Node) -> None:
    for pid in range(104, 106):
        process(node.folder / "proc", pid)
    node.lateness = {3: 0.3, 5: 0.9}
    told = node.train(360, ranks=6)
    assert {(event["attributes"]["rank"], event["attributes"]["measured"]) for event in told} == {(3, "steps")}


def test_of_three_ranks_nobody_knows_who_is_right(node: Node) -> None:
    node.own = {0: 0.05, 1: 0.05, 2: 0.9}
    assert node.train(HOUR // 2, ranks=3) == []
