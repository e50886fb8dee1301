"""What happened, as one value: the demo's JSON report, and what is missing from a story that should have ended well.

Pure: it judges facts that others gathered. The keys of the report are fixed; programs read them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from local.demo.expected import Expected
from policies.contract.times import format_time

STAGES = (
    "seen",
    "queued",
    "decided",
    "isolated",
    "evidence_kept",
    "job_suspended",
    "instance_replaced",
    "node_verified",
    "checkpoint_chosen",
    "resumed",
    "confirmed",
    "closed",
)
XID = Expected(policy="xid-79-fell-off-the-bus", stages=STAGES, replaces_node=True)
# Stages are dated by different clocks of one machine; the stream's counts milliseconds.
_CLOCK_GRAIN = timedelta(milliseconds=2)


@dataclass(frozen=True, slots=True)
class StageReached:
    """One line of the story. `seconds` count from the fault."""

    name: str
    at: datetime
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """What the simulator knows by itself, to hold Relight's account against."""

    instances_started: int  # beyond the first fleet
    old_instance_is_gone: bool
    newest_complete_step: int
    torn_steps: frozenset[int]
    starts: tuple[int, ...]  # the steps from which the job started, the first start included
    step_now: int
    denied: tuple[str, ...] = ()  # calls that the template's own roles would not have allowed
    others: tuple[str, ...] = ()  # what other incidents did, each in a sentence


@dataclass(frozen=True)
class Report:
    """The story of one fault."""

    stages: tuple[StageReached, ...]
    policy: str
    incident_id: str
    old_instance: str
    new_instance: str | None
    chosen_step: int | None
    refused: tuple[dict[str, Any], ...]
    resumed_step: int | None
    confirmed_step: int | None
    alerts: int
    events_sent: int
    events_lost: int
    acts_repeated: int
    gpu_hours_lost: float

    def to_json(self) -> dict[str, Any]:
        """The document that `--report` writes. Nothing is seen before its cause: what is less than 0 is clock grain."""
        stages = [
            {"name": stage.name, "at": format_time(stage.at), "seconds": round(max(0.0, stage.seconds), 3)}
            for stage in self.stages
        ]
        return {
            "stages": stages,
            "policy": self.policy,
            "incident_id": self.incident_id,
            "old_instance": self.old_instance,
            "new_instance": self.new_instance,
            "checkpoint": {"chosen_step": self.chosen_step, "refused": list(self.refused)},
            "resumed_step": self.resumed_step,
            "confirmed_step": self.confirmed_step,
            "alerts": self.alerts,
            "events_sent": self.events_sent,
            "events_lost": self.events_lost,
            "acts_repeated": self.acts_repeated,
            "gpu_hours_lost": round(self.gpu_hours_lost, 4),
        }


def what_is_missing(report: Report, truth: Truth, expected: Expected = XID) -> list[str]:
    """Sentences about what did not happen as *expected*; empty when the whole story is true."""
    return [
        *_wrong_policy(report, expected),
        *_missing_stages(report.stages, expected.stages),
        *(_wrong_replacement(report, truth) if expected.replaces_node else _needless_replacement(report, truth)),
        *_wrong_checkpoint(report, truth),
        *_wrong_resume(report, truth),
        *_wrong_counts(report, expected),
        *truth.others,
        *(f"AWS would have refused: {call}" for call in truth.denied),
    ]


def _wrong_policy(report: Report, expected: Expected) -> list[str]:
    return (
        [] if report.policy == expected.policy else [f"policy {report.policy or 'none'} acted, not {expected.policy}"]
    )


def _missing_stages(stages: Sequence[StageReached], wanted: Sequence[str]) -> list[str]:
    names = [stage.name for stage in stages]
    absent = ", ".join(name for name in wanted if name not in names)
    needless = [f"the stage {name} has no place here" for name in names if name not in wanted]
    missing = [f"never reached: {absent}"] if absent else []
    doubled = [f"the stage {name} was reached {names.count(name)} times" for name in wanted if names.count(name) > 1]
    by_name = {stage.name: stage for stage in stages}
    known = [by_name[name] for name in wanted if name in by_name]
    unordered = [
        f"{later.name} came before {earlier.name}"
        for earlier, later in pairwise(known)
        if later.at < earlier.at - _CLOCK_GRAIN
    ]
    return [*missing, *needless, *doubled, *unordered]


def _wrong_replacement(report: Report, truth: Truth) -> list[str]:
    problems = []
    if report.new_instance is None or truth.instances_started != 1:
        problems.append(f"{truth.instances_started} instances were started in place of one")
    if not truth.old_instance_is_gone:
        problems.append(f"the broken instance {report.old_instance} still runs")
    return problems


def _needless_replacement(report: Report, truth: Truth) -> list[str]:
    problems = []
    if report.new_instance is not None or truth.instances_started:
        problems.append(f"{truth.instances_started} instances were started, and no node was at fault")
    if truth.old_instance_is_gone:
        problems.append(f"instance {report.old_instance} was given up, and it was well")
    return problems


def _wrong_checkpoint(report: Report, truth: Truth) -> list[str]:
    problems = []
    if report.chosen_step != truth.newest_complete_step:
        problems.append(
            f"step {report.chosen_step} was chosen, the newest complete one is {truth.newest_complete_step}"
        )
    unseen = truth.torn_steps - {refusal.get("step") for refusal in report.refused}
    problems.extend(f"the torn checkpoint of step {step} was not refused" for step in sorted(unseen))
    return problems


def _wrong_resume(report: Report, truth: Truth) -> list[str]:
    problems = []
    if report.resumed_step != report.chosen_step or truth.starts != (0, report.chosen_step):
        told = ", ".join(map(str, truth.starts))
        problems.append(
            f"the job started from the steps {told}; it should have resumed once, from {report.chosen_step}"
        )
    past = report.chosen_step if report.chosen_step is not None else 0
    if report.confirmed_step is None or report.confirmed_step <= past or truth.step_now <= past:
        problems.append(f"training was not confirmed past step {past}")
    return problems


def _wrong_counts(report: Report, expected: Expected) -> list[str]:
    problems = []
    if report.events_sent < 1 and expected.agents_speak:
        problems.append("no agent sent any event")
    if report.events_lost:
        problems.append(f"{report.events_lost} of {report.events_sent} events were lost")
    if report.acts_repeated:
        problems.append(f"{report.acts_repeated} acts were repeated")
    if report.alerts < 1:
        problems.append("nobody was alerted")
    return problems
