"""What counts as the whole story, and what is said when a part of it is missing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from local.demo.report import Report, Truth, what_is_missing
from tests.tools.demo_reports import FAULT, REPORT, TRUTH, stage


def test_a_true_story_lacks_nothing() -> None:
    assert what_is_missing(REPORT, TRUTH) == []


def test_the_report_has_exactly_the_promised_keys() -> None:
    document = REPORT.to_json()
    assert list(document) == [
        *("stages", "policy", "incident_id", "old_instance", "new_instance", "checkpoint", "resumed_step"),
        *("confirmed_step", "alerts", "events_sent", "events_lost", "acts_repeated", "gpu_hours_lost"),
    ]
    assert document["checkpoint"] == {"chosen_step": 40, "refused": [{"step": 60, "reason": ".metadata is missing"}]}
    assert document["stages"][1] == {"name": "queued", "at": "2026-01-31T12:00:00.500000Z", "seconds": 0.5}


@pytest.mark.parametrize(
    ("report", "truth", "said"),
    [
        (replace(REPORT, stages=REPORT.stages[:-1]), TRUTH, "never reached: closed"),
        (replace(REPORT, stages=(*REPORT.stages, REPORT.stages[6])), TRUTH, "instance_replaced was reached 2 times"),
        (
            replace(REPORT, stages=(*REPORT.stages[:-1], stage("closed", 0.1))),
            TRUTH,
            "closed came before confirmed",
        ),
        (REPORT, replace(TRUTH, instances_started=2), "2 instances were started in place of one"),
        (replace(REPORT, new_instance=None), replace(TRUTH, instances_started=0), "0 instances were started"),
        (REPORT, replace(TRUTH, old_instance_is_gone=False), "i-old still runs"),
        (REPORT, replace(TRUTH, denied=("Triage may not s3:PutObject",)), "would have refused: Triage may not"),
        (REPORT, replace(TRUTH, newest_complete_step=60), "step 40 was chosen, the newest complete one is 60"),
        (replace(REPORT, refused=()), TRUTH, "the torn checkpoint of step 60 was not refused"),
        (REPORT, replace(TRUTH, starts=(0, 40, 40)), "started from the steps 0, 40, 40"),
        (REPORT, replace(TRUTH, starts=(0, 20)), "it should have resumed once, from 40"),
        (replace(REPORT, confirmed_step=40), TRUTH, "training was not confirmed past step 40"),
        (REPORT, replace(TRUTH, step_now=40), "training was not confirmed past step 40"),
        (replace(REPORT, events_lost=1), TRUTH, "1 of 2 events were lost"),
        (replace(REPORT, events_sent=0), TRUTH, "no agent sent any event"),
        (replace(REPORT, acts_repeated=3), TRUTH, "3 acts were repeated"),
        (replace(REPORT, alerts=0), TRUTH, "nobody was alerted"),
    ],
)
def test_what_is_missing_is_said(report: Report, truth: Truth, said: str) -> None:
    assert any(said in problem for problem in what_is_missing(report, truth))


def test_the_streams_coarse_clock_is_no_disorder() -> None:
    stages = (REPORT.stages[0], replace(REPORT.stages[1], at=FAULT - timedelta(milliseconds=1)), *REPORT.stages[2:])
    assert what_is_missing(replace(REPORT, stages=stages), TRUTH) == []
