"""The name and the request of the job that goes on where another stopped.

A training job cannot run twice: its successor has the base name with `-rNN`, the same everything, the same checkpoint
location, and says where it comes from. It must not call SageMaker.
"""

from collections.abc import Mapping
from typing import Any

from functions.ports.training_jobs import TrainingJob
from policies.coordination.runs import NUMBERED, shortened

INCIDENT_TAG = "relight:incident"
PREVIOUS_TAG = "relight:previous-job"
CLUSTER_TAG = "relight:cluster"
RESUME_STEP = "RELIGHT_RESUME_STEP"
RESUME_FROM = "RELIGHT_RESUME_FROM"
MOST_SUCCESSORS = 99


def successor_name(name: str) -> str:
    """Return the next name in the line: ``run`` -> ``run-r01`` -> ``run-r02``; at most 63 characters."""
    found = NUMBERED.match(name)
    base, number = (found["base"], int(found["number"])) if found else (name, 0)
    return f"{shortened(base)}-r{number + 1:02d}"


def is_last(name: str) -> bool:
    """Whether the line has no number left."""
    found = NUMBERED.match(name)
    return found is not None and int(found["number"]) >= MOST_SUCCESSORS


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
