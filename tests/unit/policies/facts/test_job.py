"""How old what was said of a job may be, and what follows from it."""

from datetime import timedelta

import pytest

from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef, Scalar
from policies.facts.fact import About
from policies.facts.job import FRESH_SECONDS, JOB, Progress
from tests.tools.envelopes import NOW, event

NODE = NodeIdentity(cluster="c", name="n", instance_id="i-1")
SEEN = event(0, 0).model_copy(update={"job": JobRef(id="train/llama")})


def minutes_ago(minutes: float) -> timedelta:
    return timedelta(minutes=minutes)


def said(**more: object) -> Progress:
    told = {"at": NOW - timedelta(seconds=40), "alive": True, "step": 9100, "saved_step": 9000, "save_seconds": 3600.0}
    return Progress.model_validate({**told, "saved_at": NOW - minutes_ago(20), **more})


def answered(document: Progress | None) -> dict[str, Scalar]:
    text = None if document is None else document.to_json()
    return dict(JOB.answer(None if text is None else JOB.parse(text), About(SEEN, NODE, NOW)))


def test_a_run_that_saved_twenty_minutes_ago_and_saves_each_hour() -> None:
    assert answered(said(value=2.5)) == {
        "job.alive": True,
        "job.steps_at_risk": 100,
        "job.minutes_since_checkpoint": 20.0,
        "job.minutes_to_checkpoint": 40.0,
        "job.value": 2.5,
    }


def test_a_job_that_nobody_spoke_of_is_unknown() -> None:
    assert answered(None) == {}
    assert JOB.subject(SEEN.model_copy(update={"job": None}), NODE) is None


def test_what_was_said_long_ago_is_unknown_but_for_what_the_job_is_worth() -> None:
    old = said(at=NOW - timedelta(seconds=FRESH_SECONDS + 1), value=7.0)
    assert answered(old) == {"job.value": 7.0}


@pytest.mark.parametrize(("minutes", "left"), [(60, 0.0), (89, 0.0), (91, None), (2400, None)])
def test_a_save_that_is_long_overdue_is_expected_at_no_time(minutes: float, left: float | None) -> None:
    told = answered(said(saved_at=NOW - minutes_ago(minutes)))
    assert told.get("job.minutes_to_checkpoint") == left
    assert told["job.minutes_since_checkpoint"] == minutes


def test_a_run_that_never_told_a_save_or_trains_where_it_has_been_loses_nobody_knows_what() -> None:
    assert answered(said(saved_step=None, saved_at=None)) == {"job.alive": True}
    assert answered(said(step=10)) == {"job.alive": True}


def test_a_run_that_was_started_again_keeps_the_newest_save_that_was_told() -> None:
    fresh = said(saved_step=None, saved_at=None, save_seconds=None)
    merged = fresh.after(said(step=5))
    assert (merged.step, merged.saved_step, merged.save_seconds) == (9100, 9000, 3600.0)
    newer = said(saved_step=9100, saved_at=NOW)
    assert newer.after(said()) == newer
    assert said().after(newer).saved_step == 9100
