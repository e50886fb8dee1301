"""Two weeks of a cluster with every grade of ground, and what came of each act and restart, counted by hand.

| day | node | policy | what became known of it | so |
|---|---|---|---|---|
| 0 | i-1 | replacing | proven successor, then silence | faulty, presumed |
| 1 | i-2 | replacing | the same on i-2', its successor, five hours after | healthy |
| 1 | i-2' | replacing | proven successor, then silence | faulty, presumed |
| 2 | i-3 | replacing | the same on i-3' an hour after; a person: faulty | faulty |
| 2 | i-3' | replacing | proven successor; a person: healthy | healthy |
| 3 | i-4 | replacing | AWS retires the host two days after | faulty |
| 4 | i-5 | replacing | its successor failed its check | unknown |
| 5 | i-6 | replacing, in shadow | nothing was touched | no act |
| 5 | j-4 | resetting | AWS says it is impaired, eight days after: too late; silence | faulty, presumed |
| 6 | j-1 | resetting | it failed its check after the reset | faulty |
| 7 | j-2 | resetting | the same again three hours after | faulty |
| 7 | j-2 | resetting | proven, then silence | faulty, presumed |
| 8 | j-3 | resetting | a person: healthy, and takes it back; silence | faulty, presumed |
| 10 | k-1 | isolating | nobody mended it; a person: healthy | healthy |
| 11 | k-2 | isolating | nobody mended it, nobody knows | unknown |
| 13 | j-5 | resetting | proven half a day ago | unknown |

So: replacing 6 judged of 7 acts, 4 faulty (2 presumed): 0.67. resetting 5 of 6, all faulty (3 presumed): 1.0.
isolating 1 of 2, none faulty: 0.0.

| day | run | what was told | so |
|---|---|---|---|
| 2 | a | it failed, and nothing had been found | missed |
| 3 | b | it failed ten minutes after a finding on its node | foreseen |
| 4 | c | it failed; two hours later resetting finds what began before | missed, by resetting |
| 5 | d | rank 0 left, and two minutes later the job failed | missed, once |
| 6 | e | rank 3 left | no restart |
| 7 | f | it failed while an incident on another node of it was open for three hours | foreseen |
| 8 | g | it failed; a person: replacing ought to have found it | missed, by replacing |

So: 4 misses of the cluster among 6 restarts, one of replacing, one of resetting.
"""

import pytest

from policies.contract.events import JobRef
from policies.contract.vocabulary import Kind, Orchestrator, PolicyMode
from policies.coordination.snapshot import Keys
from policies.precision.misses import restarts_of
from policies.precision.verdicts import Precision
from tests.tools.incidents import CLUSTER, at, finding, findings
from tests.tools.judged import DAY, HOUR, ISOLATING, REPLACING, RESETTING, TELLING, Judged

END = 14 * DAY


def run(name: str, rank: int | None = None) -> JobRef:
    return JobRef(id=name, orchestrator=Orchestrator.EKS, rank=rank)


def tell_acts(told: Judged) -> None:
    told.acted("i-1", 0, REPLACING)
    told.acted("i-2", DAY, REPLACING)
    told.acted("i-2'", DAY + 5 * HOUR, REPLACING)
    third = told.acted("i-3", 2 * DAY, REPLACING)
    fourth = told.acted("i-3'", 2 * DAY + HOUR, REPLACING)
    told.say(third, "faulty", 2 * DAY + 5 * HOUR)
    told.say(fourth, "healthy", 2 * DAY + 5 * HOUR)
    told.acted("i-4", 3 * DAY, REPLACING)
    told.acted("i-5", 4 * DAY, REPLACING, verified=False)
    told.found("i-4", 5 * DAY, TELLING, kind=Kind.INSTANCE_RETIREMENT_SCHEDULED)
    told.found("i-6", 5 * DAY, REPLACING.model_copy(update={"mode": PolicyMode.SHADOW}))
    told.acted("j-4", 5 * DAY, RESETTING)
    told.acted("j-1", 6 * DAY, RESETTING, verified=False)
    told.acted("j-2", 7 * DAY, RESETTING)
    told.acted("j-2", 7 * DAY + 3 * HOUR, RESETTING)
    kept = told.acted("j-3", 8 * DAY, RESETTING)
    told.say(kept, "healthy", 8 * DAY + HOUR)
    told.say(kept, "unknown", 8 * DAY + 2 * HOUR)
    isolated = told.acted("k-1", 10 * DAY, ISOLATING)
    told.acted("k-2", 11 * DAY, ISOLATING)
    told.say(isolated, "healthy", 11 * DAY)
    told.found("j-4", 13 * DAY + HOUR, TELLING, kind=Kind.INSTANCE_STATUS_IMPAIRED)
    told.acted("j-5", 13 * DAY + 12 * HOUR, RESETTING)


def tell_restarts(told: Judged) -> None:
    told.found("n-1", 2 * DAY + 100, TELLING, kind=Kind.JOB_FAILED, job=run("a"))
    told.found("n-2", 3 * DAY, TELLING, job=run("b"))
    told.found("n-2", 3 * DAY + 600, TELLING, kind=Kind.JOB_FAILED, job=run("b"))
    told.found("n-3", 4 * DAY, TELLING, kind=Kind.JOB_FAILED, job=run("c"))
    late = finding("n-4", name="late", seen=at(4 * DAY + 2 * HOUR), policy=RESETTING, job=run("c"))
    told.take(4 * DAY + 2 * HOUR, findings(late.model_copy(update={"first_observed_at": at(4 * DAY - 60)})))
    told.found("n-5", 5 * DAY + 200, TELLING, kind=Kind.PROCESS_EXITED, job=run("d", 0))
    told.found("n-5", 5 * DAY + 320, TELLING, kind=Kind.JOB_FAILED, job=run("d"))
    told.found("n-6", 6 * DAY, TELLING, kind=Kind.PROCESS_EXITED, job=run("e", 3))
    told.found("n-7", 7 * DAY, ISOLATING, job=run("f"))
    told.found("n-8", 7 * DAY + 3 * HOUR, TELLING, kind=Kind.JOB_FAILED, job=run("f"))
    ended = told.found("n-9", 8 * DAY, TELLING, kind=Kind.JOB_FAILED, job=run("g"))
    told.say(ended, "missed", 8 * DAY + HOUR, policy="replacing")


@pytest.fixture(scope="module")
def fortnight() -> Judged:
    told = Judged()
    tell_acts(told)
    tell_restarts(told)
    return told


def test_what_is_known_of_each_node_that_was_replaced(fortnight: Judged) -> None:
    assert fortnight.known(REPLACING, END) == [
        ("i-1", "faulty by quiet"),
        ("i-2", "healthy by recurrence"),
        ("i-2'", "faulty by quiet"),
        ("i-3", "faulty by person"),
        ("i-3'", "healthy by person"),
        ("i-4", "faulty by aws"),
        ("i-5", "unknown"),
    ]


def test_what_is_known_of_each_node_that_was_reset(fortnight: Judged) -> None:
    assert fortnight.known(RESETTING, END) == [
        ("j-4", "faulty by quiet"),
        ("j-1", "faulty by check"),
        ("j-2", "faulty by recurrence"),
        ("j-2", "faulty by quiet"),
        ("j-3", "faulty by quiet"),
        ("j-5", "unknown"),
    ]


def test_precision_is_what_was_counted(fortnight: Judged) -> None:
    assert fortnight.precision(REPLACING, END) == Precision(acts=7, faulty=4, healthy=2, presumed=2)
    assert fortnight.precision(RESETTING, END) == Precision(acts=6, faulty=5, healthy=0, presumed=3)
    assert fortnight.precision(ISOLATING, END) == Precision(acts=2, faulty=0, healthy=1, presumed=0)
    told = [fortnight.precision(each, END) for each in (REPLACING, RESETTING, ISOLATING, TELLING)]
    assert [(each.value, each.judged, each.unknown) for each in told] == [
        (pytest.approx(2 / 3), 6, 1),
        (1.0, 5, 1),
        (0.0, 1, 1),
        (None, 0, 0),
    ]


def test_after_90_days_nothing_of_it_counts(fortnight: Judged) -> None:
    assert fortnight.precision(REPLACING, 91 * DAY + 4 * DAY) == Precision()


def test_misses_are_what_was_counted(fortnight: Judged) -> None:
    assert [(miss.job, miss.kind, miss.policies) for miss in fortnight.misses(END)] == [
        ("a", "job.failed", ()),
        ("c", "job.failed", ("resetting",)),
        ("d", "process.exited", ()),
        ("g", "job.failed", ("replacing",)),
    ]
    kept = fortnight.store.read(CLUSTER, Keys(misses=frozenset({""}))).misses[""]
    assert restarts_of(kept, at(END)) == 6
    assert fortnight.misses(120 * DAY) == ()


def test_nobody_was_paged_for_it_but_where_an_act_ended_so(fortnight: Judged) -> None:
    assert [node for node, _ in fortnight.pages] == ["i-5", "j-1", "k-1", "k-2"]
