"""Stop a training job that cannot go on, after SageMaker had its own try.

SageMaker repairs a training cluster by itself ("Repairing training cluster due to hardware failure") and restarts the
job from its checkpoint location; two repairers would fight. So: while it repairs, wait; if the job trains again after
that, stand aside; a failed job is ours to resume; a job that neither fails nor is repaired within the grace is stopped,
and waited for. A job that somebody else stopped stays stopped: the intention to stop it is kept before it is carried
out, so that our own stop is known as ours.
"""

import re
from dataclasses import dataclass
from datetime import timedelta

from functions.acts.act import ActContext
from functions.acts.support import Pace, text_of
from functions.ports.training_jobs import TrainingJob, TrainingJobs
from functions.sagemaker.lineage import checkpoint_place
from policies.contract.decisions import RungReport
from policies.contract.times import format_time

_STOPPING = "stopping"  # in the progress: this incident has meant to stop the job
_REPAIRING = re.compile(r"repair", re.IGNORECASE)  # the text of SecondaryStatusTransitions[-1].StatusMessage


@dataclass(frozen=True)
class Grace:
    """How long SageMaker gets to begin its own repair. ``scale`` shortens it on the embedded AWS."""

    seconds: float = 180.0
    scale: float = 1.0


class SuspendTrainingJob:
    """The act."""

    def __init__(self, *, jobs: TrainingJobs, pace: Pace, grace: Grace) -> None:
        """Take the port."""
        self._jobs = jobs
        self._pace = pace
        self._grace = grace

    def advance(self, context: ActContext) -> RungReport:
        """Done once the job failed, is stopped by us, or repaired. Outcome: suspended_at, checkpoints, stood_aside."""
        job = self._jobs.describe(context.job.id) if context.job else None
        if job is None:
            return context.failed(f"there is no training job {context.job.id if context.job else '(none named)'}")
        facts = {
            "suspended_at": text_of(context.progress, "suspended_at") or format_time(context.now),
            "checkpoints": checkpoint_place(job),
        }
        if job.terminal:
            return self._ended(context, job, facts)
        if _REPAIRING.search(job.status_message):
            return self._pace.wait(context, f"SageMaker repairs {job.name} itself", **facts, repairing=True)
        if context.progress.get("repairing") and job.secondary_status == "Training":
            return context.done(**facts, stood_aside="SageMaker repaired the training cluster itself")
        if context.now < context.intended_at + timedelta(seconds=self._grace.seconds * self._grace.scale):
            return self._pace.wait(context, f"SageMaker may still repair {job.name} itself", **facts)
        return self._stop(context, job, facts)

    def _stop(self, context: ActContext, job: TrainingJob, facts: dict[str, str]) -> RungReport:
        if not context.progress.get(_STOPPING):
            return context.waiting(1.0, f"training job {job.name} is about to be stopped", **facts, **{_STOPPING: True})
        self._jobs.stop(job.name)
        state = job.secondary_status or job.status
        return self._pace.wait(context, f"training job {job.name} is {state}", **facts, **{_STOPPING: True})

    def _ended(self, context: ActContext, job: TrainingJob, facts: dict[str, str]) -> RungReport:
        if job.status == "Completed":
            return context.failed(f"terminal: training job {job.name} has completed; nothing is left to resume")
        if job.status == "Stopped" and not context.progress.get(_STOPPING):
            how = job.secondary_status if job.secondary_status != job.status else "by somebody else"
            return context.failed(
                f"terminal: training job {job.name} was stopped ({how}), not by this incident;"
                " start it anew by hand if it is to go on"
            )
        return context.done(**facts)
