"""Which job runs here: a small JSON file that the training side or the operator's launcher keeps.

Read again when it changed, when an event is made. A file that is missing, half-written or wrong never stops an event: a
missing one means no job, a broken one means the job last read. A launcher that knows more of the job than where it is
(what it is worth, what it saved last) says so in the same file; remarks that are wrong cost nothing but themselves.
It must not know how a job is used.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from policies.contract.base import Model
from policies.contract.envelope import explain
from policies.contract.events import JobRef
from policies.contract.progress import JobProgress, Step
from policies.contract.times import Moment

log = logging.getLogger(__name__)

_FILE_LIMIT = 64 * 1024
JobSource = Callable[[], JobRef | None]


class JobNotes(Model):
    """What the file says beside the job itself: its newest whole checkpoint (wall clock) and what it is worth."""

    world_size: int | None = None
    value: float | None = None
    saved_step: Step | None = None
    saved_at: Moment | None = None


class JobFile:
    """The job named in the file at *path*, or none without a path."""

    def __init__(self, path: Path | None) -> None:
        """Nothing is read yet."""
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._job: JobRef | None = None
        self._notes = JobNotes()

    @property
    def notes(self) -> JobNotes:
        """What was beside the job when `__call__` last read it."""
        return self._notes

    def __call__(self) -> JobRef | None:
        """Return the job that runs here now, as far as the file says."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            self._stamp, self._job, self._notes = None, None, JobNotes()
            return None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._stamp = stamp
            self._read(self._path)
        return self._job

    def _read(self, path: Path) -> None:
        try:
            # Whoever may write here may put a pipe here, and a reader of that waits for ever.
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                raw = os.read(descriptor, _FILE_LIMIT)
                self._job = JobRef.model_validate_json(raw)
                self._notes = _notes(raw, self._job)
            finally:
                os.close(descriptor)
        except ValidationError as error:
            log.warning(
                "job file is not right; keeping the job before", extra={"path": str(path), "error": explain(error)}
            )
        except OSError as error:
            log.warning("job file cannot be read", extra={"path": str(path), "error": error.strerror})


def _notes(raw: bytes, job: JobRef) -> JobNotes:
    try:
        notes = JobNotes.model_validate_json(raw)
        JobProgress(id=job.id, world_size=notes.world_size, value=notes.value)  # the bounds are those of the wire form
    except ValidationError as error:
        log.warning("remarks in the job file are not right; taking none", extra={"error": explain(error)})
        return JobNotes()
    return notes
