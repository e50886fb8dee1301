"""SageMaker training jobs.

It must not know boto3. The twin is `functions/twins/training_jobs.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from policies.contract.errors import DependencyError

TERMINAL = frozenset({"Completed", "Failed", "Stopped"})


class NameTakenError(DependencyError):
    """A training job of that name exists (ResourceInUse): look whose it is."""


@dataclass(frozen=True)
class TrainingJob:
    """One training job. ``status_message`` is the latest transition's; ``request`` is what CreateTrainingJob took."""

    name: str
    arn: str
    status: str
    secondary_status: str = ""
    status_message: str = ""
    failure_reason: str = ""
    created_at: datetime | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)

    @property
    def terminal(self) -> bool:
        """Whether it will never run again."""
        return self.status in TERMINAL


class TrainingJobs(Protocol):
    """Failures raise DependencyError."""

    def describe(self, name: str) -> TrainingJob | None:
        """Return the job with its tags, None when there is none."""
        ...

    def stop(self, name: str) -> None:
        """Ask it to stop. Not running any more: nothing happens."""
        ...

    def create(self, request: Mapping[str, Any]) -> None:
        """Start a job; NameTakenError when one of that name exists."""
        ...
