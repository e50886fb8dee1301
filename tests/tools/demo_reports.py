"""A demo's report of a story that went well, and what the simulator knows of it."""

from datetime import UTC, datetime, timedelta

from local.demo.report import STAGES, Report, StageReached, Truth

FAULT = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


def stage(name: str, seconds: float) -> StageReached:
    return StageReached(name, FAULT + timedelta(seconds=seconds), seconds)


REPORT = Report(
    stages=tuple(stage(name, 0.5 * number) for number, name in enumerate(STAGES)),
    policy="xid-79-fell-off-the-bus",
    incident_id="a" * 32,
    old_instance="i-old",
    new_instance="i-new",
    chosen_step=40,
    refused=({"step": 60, "reason": ".metadata is missing"},),
    resumed_step=40,
    confirmed_step=41,
    alerts=2,
    events_sent=2,
    events_lost=0,
    acts_repeated=0,
    gpu_hours_lost=0.25,
)
TRUTH = Truth(
    instances_started=1,
    old_instance_is_gone=True,
    newest_complete_step=40,
    torn_steps=frozenset({60}),
    starts=(0, 40),
    step_now=55,
)
