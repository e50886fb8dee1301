"""Resume a SageMaker run: start the successor of a terminal training job on the same checkpoint location, once.

The successor's name follows from its predecessor's, so a repeat meets its own job. Never are there two writers on one
checkpoint prefix: the predecessor must be terminal, and where another incident of the same job has started a successor
that runs, the run goes on already.
"""

from typing import Any

from functions.acts.act import ActContext
from functions.acts.support import Pace, number_of, text_of
from functions.ports.training_jobs import NameTakenError, TrainingJob, TrainingJobs
from functions.sagemaker.lineage import INCIDENT_TAG, is_last, successor_name, successor_request
from policies.contract.decisions import RungReport
from policies.contract.times import format_time


class ResumeTrainingJob:
    """The act."""

    def __init__(self, *, jobs: TrainingJobs, pace: Pace) -> None:
        """Take the port."""
        self._jobs = jobs
        self._pace = pace

    def advance(self, context: ActContext) -> RungReport:
        """Start the successor unless it is there. Outcome: resumed_step, resumed_at, resumed_job; or stood_aside."""
        step, checkpoint = number_of(context.facts, "chosen_step"), text_of(context.facts, "checkpoint")
        previous = self._jobs.describe(context.job.id) if context.job else None
        if step is None or not checkpoint or previous is None:
            return context.failed(_what_lacks(context, step))
        facts = {"resumed_step": step, "resumed_at": format_time(context.intended_at)}
        if text_of(context.facts, "stood_aside"):
            return context.done(**facts, resumed_job=previous.name)
        if not previous.terminal:
            return self._pace.wait(context, f"training job {previous.name} still runs ({previous.status})")
        return self._succeed(context, previous, step, checkpoint, facts)

    def _succeed(
        self, context: ActContext, previous: TrainingJob, step: int, checkpoint: str, facts: dict[str, Any]
    ) -> RungReport:
        last = self._end_of_line(context, previous)
        if last.tags.get(INCIDENT_TAG) == context.incident and last is not previous:
            return context.done(**facts, resumed_job=last.name)
        if not last.terminal:
            whose = last.tags.get(INCIDENT_TAG) or "nobody that Relight knows"
            return context.done(stood_aside=f"{last.name} goes on already, started for {whose}", resumed_job=last.name)
        if is_last(last.name):
            return context.failed(f"{last.name} is the last name in its line; start the job anew under another name")
        self._start(context, last, step, checkpoint)
        return context.done(**facts, resumed_job=successor_name(last.name))

    def _end_of_line(self, context: ActContext, previous: TrainingJob) -> TrainingJob:
        """Return the youngest successor there is: ours, or the last of earlier incidents, or *previous* itself."""
        last = previous
        while not is_last(last.name):
            following = self._jobs.describe(successor_name(last.name))
            if following is None:
                break
            last = following
            if last.tags.get(INCIDENT_TAG) == context.incident:
                break
        return last

    def _start(self, context: ActContext, previous: TrainingJob, step: int, checkpoint: str) -> None:
        name = successor_name(previous.name)
        request = successor_request(
            previous,
            name=name,
            step=step,
            checkpoint=checkpoint,
            incident=context.incident,
            cluster=context.cluster.name,
        )
        try:
            self._jobs.create(request)
        except NameTakenError:
            there = self._jobs.describe(name)
            if there is None or there.tags.get(INCIDENT_TAG) != context.incident:
                raise  # somebody else took the name this very moment: the next look sees whose it is


def _what_lacks(context: ActContext, step: int | None) -> str:
    if step is None or not text_of(context.facts, "checkpoint"):
        return "no checkpoint was chosen; choose_checkpoint comes before resume_job"
    return f"there is no training job {context.job.id if context.job else '(none named)'}"
