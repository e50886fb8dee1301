"""`relight-progress.json` beside the checkpoints: what was saved since the resume, and what the resume was from.

Relight reads it to confirm a resume (docs/checkpoints.md); the next start reads it to know that a resume point is used
up. Only the rank that leads writes it, by rename, and only into folders. It must not judge a checkpoint.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from relight_training.point import RefusedError, ResumePoint, parse_object

if TYPE_CHECKING:
    from relight_training.places import Place

PROGRESS = "relight-progress.json"


@dataclass(frozen=True)
class Progress:
    """*step* was saved whole under *path*, in a run that went on from *resumed_from*, told by *incident* or *job*."""

    step: int
    path: str
    resumed_from: int | None = None
    incident: str | None = None
    job: str | None = None

    def follows(self, point: ResumePoint, job: str | None) -> bool:
        """Whether this was saved by a run that went on from *point* itself.

        A point that neither an incident nor a job's own name tells from an earlier one at the same step is followed by
        nothing: the later save may be the very one that Relight passed over.
        """
        same = (self.resumed_from, self.incident, self.job) == (point.step, point.incident, job)
        return same and (point.incident or job) is not None and self.step > point.step


def read(place: Place) -> Progress | None:
    """Return what stands there; None when nothing does, or nothing that can be read. UnreadableError as Place."""
    body = place.read(PROGRESS)
    if body is None:
        return None
    try:
        told = parse_object(body)
    except RefusedError:
        return None
    step, path, begun = told.get("step"), told.get("path"), told.get("resumed_from")
    if isinstance(step, bool) or not isinstance(step, int) or not isinstance(path, str):
        return None
    incident, job = told.get("incident"), told.get("job")
    return Progress(
        step=step,
        path=path,
        resumed_from=begun if isinstance(begun, int) else None,
        incident=incident if isinstance(incident, str) else None,
        job=job if isinstance(job, str) else None,
    )


def write(folder: str, progress: Progress) -> None:
    """Put *progress* into *folder*, whole or not at all. OSError when that cannot be."""
    now = datetime.now(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
    told = {**vars(progress), "at": now}
    hidden = os.path.join(folder, f".{PROGRESS}.{secrets.token_hex(4)}")
    try:
        with open(hidden, "x", encoding="utf-8") as file:
            json.dump({name: value for name, value in told.items() if value is not None}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, os.path.join(folder, PROGRESS))
    except BaseException:
        with suppress(OSError):
            os.unlink(hidden)
        raise
