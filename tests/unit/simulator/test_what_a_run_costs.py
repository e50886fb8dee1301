"""A run that stands still costs the GPUs that it has, whoever spoke of it in the archive."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from policies.contract.archive import ArchivedRecord
from policies.contract.events import JobRef
from policies.contract.progress import JobProgress
from policies.contract.rungs import Rung
from simulator import checkpoint
from simulator.backtest import Asked, Report, backtest, read_past
from simulator.costs import Cost, cost_of
from simulator.deeds import Act, Deed
from simulator.replay import Question, Replay
from simulator.runs import Run, Sizes
from tests.tools.envelopes import NOW, at, envelope, event, node
from tests.tools.replays import RUN, documents, head, record, shelved

EIGHT_NODES = [f"i-{number}" for number in range(8)]
HOUR = timedelta(hours=1)


def beats(size: int | None = None, names: Sequence[str] = EIGHT_NODES) -> list[ArchivedRecord]:
    """Return what *names* say who are well; the first of them says that the run has so many ranks."""
    told = []
    for number, name in enumerate(names):
        jobs = (JobProgress(id=RUN.id, world_size=size),) if size and not number else ()
        made = envelope(sent=1.0, identity=node(name), spool=f"s-{name}", first_seq=0)
        told.append(record(made.model_copy(update={"jobs": jobs}), 1.0, number))
    return told


def lost(name: str, job: JobRef, seconds: float = 60.0) -> ArchivedRecord:
    made = envelope(event(0, seconds, xid=79, job=job), sent=seconds, identity=node(name), spool=f"s-{name}")
    return record(made, seconds, int(seconds) * 100)


def told(records: Sequence[ArchivedRecord]) -> Report:
    candidate = [head(each) for each in documents() if each["name"] == "fell-off-the-bus"]
    asked = Asked(shelved(sorted(records)), "an archive", candidate=candidate)
    return backtest(asked, read_past(asked))


def gpus_that_stood_still(report: Report) -> float:
    (deed,) = report.after.deeds
    times = {act.rung: act.at for act in deed.acts}
    return report.after.cost.stopped / ((times["confirm_resume"] - times["suspend_job"]) / HOUR)


SIZED = RUN.model_copy(update={"world_size": 64})


@pytest.mark.parametrize(
    ("records", "gpus"),
    [
        ([*beats(), lost("i-3", SIZED)], 64),
        ([*beats(64), lost("i-3", RUN)], 64),
        ([*beats(32), lost("i-3", SIZED)], 64),
        ([*beats(), lost("i-3", RUN)], 8),
        ([*beats(), lost("i-3", RUN.model_copy(update={"world_size": 1}))], 1),
        ([*beats(), lost("i-3", RUN.model_copy(update={"world_size": 10_000_000}))], 64),
    ],
    ids=["the fault says it", "a heartbeat says it", "the fault is nearer", "nobody does", "one GPU", "mistyped"],
)
def test_a_run_stands_still_with_all_its_gpus(records: Sequence[ArchivedRecord], gpus: float) -> None:
    assert gpus_that_stood_still(told(records)) == pytest.approx(gpus)


def test_what_was_done_and_what_would_be_are_reckoned_alike() -> None:
    records = [*beats(), lost("i-3", SIZED)]
    assert told(records).after.cost.stopped > 0
    deed = stop(0, 1, size=64)
    for sizes in (Sizes(), Sizes(nodes={"c": 8}), Sizes(named={Run("c", RUN.id): {"i-1"}})):
        assert cost_of([deed], sizes, at(9 * 3600)) == Cost(64.0)


def stop(begin: float, end: float, *, size: int | None = None, cluster: str = "c", name: str = "i-1") -> Deed:
    """Return that a run stood still from *begin* until *end*, in hours."""
    acts = (Act(Rung.SUSPEND_JOB.value, at(begin * 3600)), Act(Rung.RESUME_JOB.value, at(end * 3600)))
    whose = (cluster, f"{name}#0", name, name, "p5.48xlarge", RUN.id, "a-policy")
    over = at(end * 3600)
    return Deed(f"inc-{begin}-{name}", "f", *whose, 1, at(begin * 3600), over, "closed", "resolved", "", acts, 1, size)


@pytest.mark.parametrize(
    ("deeds", "hours"),
    [
        ([stop(0, 2, size=64), stop(1, 3, size=64)], 192),
        ([stop(0, 2, size=64), stop(1, 3, size=56)], 2 * 64 + 56),
        ([stop(0, 1, size=64), stop(5, 6, size=8)], 72),
        ([stop(0, 2, size=64), stop(0, 2, size=32, cluster="d")], 192),
    ],
    ids=["once", "in its size of then", "in the size that it had each time", "of each cluster its own"],
)
def test_a_run_that_stands_still_for_two_incidents_stands_still_once(deeds: list[Deed], hours: float) -> None:
    for each in (deeds, deeds[::-1]):
        assert cost_of(each, Sizes(), at(9 * 3600)).stopped == pytest.approx(hours)


def test_what_trains_on_no_gpu_costs_no_gpu_hours() -> None:
    deed = stop(0, 1, size=64)
    on_trainium = Deed(**{**{name: getattr(deed, name) for name in deed.__slots__}, "instance_type": "trn1.32xlarge"})
    assert cost_of([on_trainium], Sizes(), at(9 * 3600)) == Cost()


def test_a_cluster_s_nodes_of_weeks_ago_are_known_still_where_a_replay_goes_on(tmp_path: Path) -> None:
    replay = Replay(Question(candidate=()))
    replay.run(beats())
    replay.nodes.begin_day(NOW + timedelta(days=15))
    replay.nodes.begin_day(NOW + timedelta(days=16))
    checkpoint.save(replay, tmp_path, "a question")
    again = Replay(Question(candidate=()))
    checkpoint.load(again, tmp_path, "a question")
    assert again.nodes.sizes_of_clusters() == replay.nodes.sizes_of_clusters() == {node("i-1").cluster: 8}
