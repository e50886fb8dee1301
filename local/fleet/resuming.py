"""Where a starting job goes on from, as the job itself finds out.

In this order: the path in its pods' annotation (the Downward API shows it), the pointer object beside the checkpoints,
the newest folder with a `.metadata`, the beginning. Like most frameworks it trusts a `.metadata` that is there: to
name a complete step is the business of whoever resumes it.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from local.fleet.checkpoints import CheckpointStore, get_json
from local.fleet.dcp import METADATA_FILE

RESUME_FROM = "relight.dev/resume-from"
POINTER = "relight-resume.json"
PROGRESS = "relight-progress.json"
_STEP = re.compile(r"(?:^|/)step-(\d+)/?$")


def step_of(path: str) -> int | None:
    """The step in the last part of *path* (`s3://bucket/prefix/step-40`); None when it names none."""
    match = _STEP.search(path)
    return int(match[1]) if match else None


def steps_with_metadata(names: Iterable[str]) -> list[int]:
    """The steps that have a `.metadata`, rising."""
    ends = [name.removesuffix(f"/{METADATA_FILE}") for name in names if name.endswith(f"/{METADATA_FILE}")]
    return sorted(step for step in map(step_of, ends) if step is not None)


def starting_step(store: CheckpointStore, annotations: Mapping[str, str], saved: Mapping[int, datetime]) -> int:
    """The step to load; 0 is a fresh start.

    *saved* tells when steps were completed: a pointer older than one of them was meant for an earlier start.
    """
    named = step_of(annotations.get(RESUME_FROM, ""))
    if named is not None:
        return named
    steps = steps_with_metadata(store.sizes())
    pointer = get_json(store, POINTER)
    if pointer is not None and isinstance(pointer.get("step"), int):
        written = datetime.fromisoformat(str(pointer["time"]))
        if not any(at > written for step, at in saved.items() if step > pointer["step"]):
            return int(pointer["step"])
    return steps[-1] if steps else 0
