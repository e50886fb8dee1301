"""Confirm a resumed training job: it must not have failed, and what it writes must be past the chosen step."""

from functions.acts.act import Act, ActContext
from functions.acts.support import text_of
from functions.ports.training_jobs import TrainingJobs
from policies.contract.decisions import RungReport


class ConfirmTrainingJob:
    """The act; *written* judges by what lies in the bucket."""

    def __init__(self, *, jobs: TrainingJobs, written: Act) -> None:
        """Take the port and the act that reads the bucket."""
        self._jobs = jobs
        self._written = written

    def advance(self, context: ActContext) -> RungReport:
        """Outcome: confirmed_step."""
        name = text_of(context.facts, "resumed_job")
        job = self._jobs.describe(name) if name else None
        if job is None:
            return context.failed(f"the resumed training job {name or '(none named)'} is not there")
        if job.status in {"Failed", "Stopped"}:
            why = job.failure_reason or job.status_message or job.secondary_status
            return context.failed(f"the resumed training job {name} is {job.status.lower()}: {why[:500]}")
        return self._written.advance(context)
