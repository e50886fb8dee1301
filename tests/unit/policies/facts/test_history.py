"""What a node's past says: incidents, repairs, stopped runs, and how much of a lemon it is."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.events import Scalar
from policies.contract.rungs import Rung
from policies.contract.vocabulary import RECORDED
from policies.facts.fact import About
from policies.facts.history import HISTORY, History, Past
from policies.facts.lemons import LIKELY
from tests.tools.envelopes import NOW, event, node


def past(
    days_ago: float, *did: Rung, name: str = "", fault: str = "gpu.xid 79", job: str = "", repaired: bool = False
) -> Past:
    at = NOW - timedelta(days=days_ago)
    return Past(
        incident=name or f"incident-{days_ago}",
        policy="p",
        fault=fault,
        at=at,
        did=did,
        job=job,
        repaired_at=at + timedelta(minutes=5) if repaired else None,
    )


def ask(*entries: Past, now: datetime = NOW) -> dict[str, Scalar]:
    document = History(cluster="c", instance="i-1", past=entries) if entries else None
    return dict(HISTORY.answer(document, About(event(), node(), now)))


def test_a_node_without_a_past_had_no_incident_and_no_repair_to_count_from() -> None:
    assert ask() == {
        "node.incidents_7d": 0,
        "node.incidents_28d": 0,
        "node.repairs_7d": 0,
        "node.jobs_stopped_28d": 0,
        "node.lemon_score": 0,
    }


def test_incidents_repairs_and_runs_count_within_their_days() -> None:
    facts = ask(
        past(30, Rung.ISOLATE, Rung.RESET_GPU, repaired=True),
        past(20, Rung.ISOLATE, Rung.SUSPEND_JOB, job="a"),
        past(6, Rung.ISOLATE, Rung.RESET_GPU, Rung.SUSPEND_JOB, job="a", repaired=True),
        past(1, Rung.SUSPEND_JOB, job="b"),
    )
    assert (facts["node.incidents_7d"], facts["node.incidents_28d"]) == (2, 3)
    assert (facts["node.repairs_7d"], facts["node.jobs_stopped_28d"]) == (1, 2)
    assert facts["node.hours_since_repair"] == pytest.approx(6 * 24, abs=0.1)


def test_decisions_that_nobody_acts_on_are_one_incident_an_episode() -> None:
    told = [
        past(1 - minutes / 1440, name=f"r{minutes}").model_copy(update={"outcome": RECORDED})
        for minutes in (0, 30, 70, 300)
    ]
    assert ask(*told)["node.incidents_28d"] == 2


def test_what_a_node_tells_of_a_run_is_no_incident_of_the_node() -> None:
    told = past(1, Rung.SUSPEND_JOB, job="a").model_copy(update={"of_run": True})
    facts = ask(told)
    assert (facts["node.incidents_28d"], facts["node.jobs_stopped_28d"], facts["node.lemon_score"]) == (0, 1, 0)


RESET = (Rung.ISOLATE, Rung.SUSPEND_JOB, Rung.RESET_GPU)


@pytest.mark.parametrize(
    ("entries", "score"),
    [
        ([past(3, *RESET, repaired=True)], 20),
        ([past(9, *RESET, repaired=True), past(3, *RESET, repaired=True)], 54),
        ([past(20, *RESET, repaired=True), past(3, *RESET, repaired=True)], 40),
        ([past(9, *RESET, repaired=True), past(5, *RESET, repaired=True), past(1, *RESET, repaired=True)], 88),
        ([past(20, Rung.ISOLATE, Rung.SUSPEND_JOB), past(9, Rung.ISOLATE, Rung.SUSPEND_JOB), past(1, *RESET)], 60),
        ([past(20, Rung.ISOLATE), past(9, Rung.ISOLATE), past(1, Rung.ISOLATE)], 36),
        ([past(day, *RESET, repaired=True, fault=f"gpu.xid {day}") for day in (25, 20, 15, 10, 5, 1)], 100),
    ],
)
def test_who_fails_three_times_with_runs_or_after_repairs_is_likely_a_lemon(entries: list[Past], score: int) -> None:
    assert ask(*entries)["node.lemon_score"] == score
    assert (score >= LIKELY) is (len(entries) >= 3 and any(len(each.did) > 1 for each in entries))


def test_an_older_document_that_holds_what_nobody_reads_any_more_says_the_same() -> None:
    entry = f'{{"incident":"a","policy":"p","fault":"f","at":"{NOW.isoformat()}","outcome":"recorded","recorded":true}}'
    document = HISTORY.parse(f'{{"cluster":"c","instance":"i-1","past":[{entry}]}}')
    assert document == History(
        cluster="c",
        instance="i-1",
        past=(Past(incident="a", policy="p", fault="f", at=NOW, outcome=RECORDED, recorded=True),),
    )
    assert document.past[0].is_recorded


PASTS = st.builds(
    Past,
    incident=st.sampled_from(["a", "b", "c", "d"]),
    policy=st.just("p"),
    fault=st.sampled_from(["", "gpu.xid 79", "nvlink.down"]),
    at=st.datetimes(datetime(2026, 1, 1), datetime(2026, 4, 1)).map(lambda at: at.replace(tzinfo=NOW.tzinfo)),  # noqa: DTZ001 - made aware
    did=st.lists(st.sampled_from(Rung), max_size=4, unique=True).map(tuple),
    repaired_at=st.none() | st.just(NOW),
    job=st.sampled_from(["", "train/a"]),
    outcome=st.sampled_from(["", RECORDED, "recovered"]),
    of_run=st.booleans(),
)


@given(st.lists(PASTS, max_size=8), st.randoms(use_true_random=False))
def test_whatever_stands_there_is_answered_within_bounds_and_in_any_order(entries: list[Past], dice: object) -> None:
    facts = ask(*entries)
    shuffled = list(entries)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ask(*shuffled) == facts or len({each.incident for each in entries}) < len(entries)
    assert 0 <= int(facts["node.lemon_score"]) <= 100
    assert int(facts["node.incidents_7d"]) <= int(facts["node.incidents_28d"]) <= len(entries)
    document = History(cluster="c", instance="i-1", past=tuple(entries))
    assert HISTORY.parse(document.model_dump_json(exclude_defaults=True)) == document
