"""The name and the request of the job that goes on where another stopped.

A training job cannot run twice: its successor has the base name with `-rNN`, the same everything, the same checkpoint
location, and says where it comes from. It must not call SageMaker.
"""

import re
from collections.abc import Mapping
from typing import Any

from functions.ports.training_jobs import TrainingJob

INCIDENT_TAG = "relight:incident"
PREVIOUS_TAG = "relight:previous-job"
CLUSTER_TAG = "relight:cluster"
RESUME_STEP = "RELIGHT_RESUME_STEP"
RESUME_FROM = "RELIGHT_RESUME_FROM"
_LONGEST_NAME = 63  # CreateTrainingJob, TrainingJobName
MOST_SUCCESSORS = 99
_NUMBERED = re.compile(r"^(?P<base>.+)-r(?P<number>\d{2})$")


def successor_name(name: str) -> str:
    """Return the next name in the line: ``run`` -> ``run-r01`` -> ``run-r02``; at most 63 characters."""
    found = _NUMBERED.match(name)
    base, number = (found["base"], int(found["number"])) if found else (name, 0)
    suffix = f"-r{number + 1:02d}"
    return base[: _LONGEST_NAME - len(suffix)].rstrip("-") + suffix


def is_last(name: str) -> bool:
    """Whether the line has no number left."""
    found = _NUMBERED.match(name)
    return bool(found) and int(found["number"]) >= MOST_SUCCESSORS if found else False


def successor_request(
    previous: TrainingJob, *, name: str, step: int, checkpoint: str, incident: str, cluster: str
) -> dict[str, Any]:
    """Return the CreateTrainingJob request that carries everything of *previous* over."""
    tags: Mapping[str, str] = {
        **{key: value for key, value in previous.tags.items() if not key.startswith("aws:")},
        INCIDENT_TAG: incident,
        PREVIOUS_TAG: previous.name,
        CLUSTER_TAG: cluster,
    }
    environment = {**previous.request.get("Environment", {}), RESUME_STEP: str(step), RESUME_FROM: checkpoint}
    return {
        **previous.request,
        "TrainingJobName": name,
        "Environment": environment,
        "Tags": [{"Key": key, "Value": value} for key, value in sorted(tags.items())],
    }


def checkpoint_place(job: TrainingJob) -> str:
    """Return where the job's checkpoints lie, empty when it keeps none."""
    config = job.request.get("CheckpointConfig") or {}
    return str(config.get("S3Uri", ""))
