"""SageMaker training jobs in memory."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from functions.ports.training_jobs import NameTakenError, TrainingJob


class MemoryTrainingJobs:
    """``created`` and ``stopped`` count effects. A stop passes through ``Stopping`` until ``settle``."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        """*clock* dates the jobs."""
        self._clock = clock
        self.jobs: dict[str, TrainingJob] = {}
        self.created: list[str] = []
        self.stopped: list[str] = []

    def describe(self, name: str) -> TrainingJob | None:
        """See the port."""
        return self.jobs.get(name)

    def stop(self, name: str) -> None:
        """See the port."""
        job = self.jobs.get(name)
        if job and not job.terminal and job.status != "Stopping":
            self.stopped.append(name)
            self.set(name, status="Stopping", secondary_status="Stopping")

    def create(self, request: Mapping[str, Any]) -> None:
        """See the port."""
        name = str(request["TrainingJobName"])
        if name in self.jobs:
            raise NameTakenError(f"a training job {name} exists.")
        tags = {tag["Key"]: tag["Value"] for tag in request.get("Tags", ())}
        carried = {key: value for key, value in request.items() if key not in {"TrainingJobName", "Tags"}}
        arn = f"arn:aws:sagemaker:us-east-1:123456789012:training-job/{name}"
        self.jobs[name] = TrainingJob(
            name, arn, "InProgress", "Starting", created_at=self._clock(), tags=tags, request=carried
        )
        self.created.append(name)

    def set(self, name: str, **changes: Any) -> None:  # noqa: ANN401 - fields of TrainingJob
        """Let SageMaker change a job."""
        self.jobs[name] = replace(self.jobs[name], **changes)

    def settle(self) -> None:
        """Let stopping jobs be stopped."""
        for name, job in self.jobs.items():
            if job.status == "Stopping":
                self.set(name, status="Stopped", secondary_status="Stopped")
